# SPDX-License-Identifier: GPL-2.0
"""Says how long a measurement will take, if this host has measured before."""

from __future__ import annotations

from collections.abc import Sequence

from kloc.base import terminal
from kloc.base.words import plural
from kloc.measure import host_speed
from kloc.measure.runner import at_once
from kloc.measure.task import Task

HOURS_FROM = 2 * 3600
"""From so many seconds on, a duration is printed in hours."""


def say(todo: Sequence[Task], one_by_one: bool = False) -> None:
    """Print how long these runs will take on this host; nothing if there is no basis for that.

    `one_by_one`: each begins when the one before has ended.
    """
    if not todo:
        return
    machines = 1 if one_by_one else min(len(todo), at_once(todo))
    instructions = sum(task.job().instructions for task in todo)
    seconds = host_speed.seconds(instructions, machines)
    if seconds is not None:
        terminal.say(
            f"about {text(seconds)}, if this host is as fast as it was last time, and has nothing "
            "to build first"
        )


def text(seconds: float) -> str:
    """Return a duration: "1 minute", "25 minutes" or "2.5 hours"."""
    if seconds >= HOURS_FROM:
        return f"{seconds / 3600:.1f} hours"
    return plural(max(1, round(seconds / 60)), "minute")
