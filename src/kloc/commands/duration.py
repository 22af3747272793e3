# SPDX-License-Identifier: GPL-2.0
"""Says how long a measurement will take on this host, and whether it builds a machine first."""

from __future__ import annotations

from collections.abc import Sequence

from kloc.base import cache, terminal
from kloc.base.errors import KlocError
from kloc.base.words import plural
from kloc.measure import host_speed
from kloc.measure.runner import at_once, prepare
from kloc.measure.task import Task

HOURS_FROM = 2 * 3600
"""From so many seconds on, a duration is printed in hours."""


def say(todo: Sequence[Task], one_by_one: bool = False, kernel: str | None = None) -> None:
    """Print how long these runs will take on this host; nothing if there are none.

    `one_by_one`: each begins when the one before has ended. `kernel` is that of --kernel.
    """
    if not todo:
        return
    machines = 1 if one_by_one else min(len(todo), at_once(todo))
    instructions = sum(task.job().instructions for task in todo)
    seconds = host_speed.seconds(instructions, machines)
    basis = "if this host is as fast as it was last time"
    if seconds is None:
        seconds = host_speed.typical_seconds(instructions, machines)
        basis = "on a typical host: this one has not measured anything yet"
    terminal.say(f"about {text(seconds)}, {basis}")
    if not _is_built(todo, kernel):
        terminal.say("before that, kloc builds what it lacks of the machine: up to half an hour")


def _is_built(todo: Sequence[Task], kernel: str | None) -> bool:
    """Return whether the cache has all parts of the tasks' machines."""
    workloads = {task.workload.name: task.workload for task in todo}
    policies = {task.policy.name: task.policy for task in todo}
    with cache.dry_run() as needed:
        try:
            prepare(list(workloads.values()), kernel, policies=list(policies.values()))
        except (OSError, KlocError):
            # What a part is made from is not there.
            return False
    return all(entry.exists() for entry in needed)


def text(seconds: float) -> str:
    """Return a duration: "1 minute", "25 minutes" or "2.5 hours"."""
    if seconds >= HOURS_FROM:
        return f"{seconds / 3600:.1f} hours"
    return plural(max(1, round(seconds / 60)), "minute")
