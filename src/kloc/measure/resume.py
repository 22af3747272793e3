# SPDX-License-Identifier: GPL-2.0
"""Continues a comparison that was stopped: which runs are missing, and what the others are of.

The oracle follows from the page frames of the all-slow run, which a result file does not have. If
only the oracle is missing, all-slow is measured again for them, and has to repeat itself.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kloc.base import progress
from kloc.base.errors import KlocError
from kloc.machine import launcher
from kloc.machine.parts import Parts
from kloc.measure import prepared, record
from kloc.measure.oracle import Placement
from kloc.measure.policy import Policy
from kloc.measure.record import Identity, Run
from kloc.measure.task import Task, follow_up

FRAMES = "fast_frames"
"""The input of the oracle that is known only after the all-slow run."""


class NotRepeated(KlocError):
    """A run that was made again has another result."""


def missing(
    todo: Sequence[Task], policies: Sequence[Policy], known: Container[Identity]
) -> list[Task]:
    """Return the tasks of a comparison to run: those of which `known` lacks a result.

    A task also counts as missing if a run of `policies` that follows from it is missing.
    """
    chosen = [used.name for used in policies]

    def is_missing(task: Task) -> bool:
        own = [task] if task.policy.name in chosen else []
        wanted = [one.identity() for one in (*own, *_followers(task, policies))]
        return any(identity not in known for identity in wanted)

    return [task for task in todo if is_missing(task)]


def with_inputs_of_today(
    kept: Sequence[Run],
    todo: Sequence[Task],
    policies: Sequence[Policy],
    parts: Mapping[str, Parts],
) -> list[Run]:
    """Return those results that belong to `todo`, with the inputs that their runs would have now.

    The oracle's frames are those of the result. `parts` are those of `runner.prepare`.
    """
    by_identity = {record.identity(run): run for run in kept}
    tasks = [one for task in todo for one in (task, *_followers(task, policies))]
    found = [task for task in tasks if task.identity() in by_identity]
    ready = prepared.with_disks(found, parts)
    runs = []
    with progress.shown("checking what the runs were made from", len(ready)) as bar:
        for task in ready:
            run = by_identity[task.identity()]
            inputs = launcher.inputs_of(_as_it_ran(task, run).job(), parts[task.guest])
            frames = {FRAMES: run["inputs"][FRAMES]} if FRAMES in run["inputs"] else {}
            runs.append({**run, "inputs": {**inputs, **frames}})
            bar.advance()
    return runs


def check_repeated(task: Task, stored: Run, run: Run) -> None:
    """Raise NotRepeated, with the keys that differ, unless a run has repeated its stored result."""
    again = json.loads(json.dumps(run))
    differing = [key for key in {**stored, **again} if stored.get(key) != again.get(key)]
    # Notes may be about the comparison, such as policies that were left out. The inputs say whether
    # another commit of kloc measures something else.
    if differing := [key for key in differing if key not in ("notes", "kloc")]:
        raise NotRepeated(
            f"{task.title()} was measured again for the frames of the oracle, and its result is "
            f"another one, in {', '.join(differing)}: the machine did not repeat itself",
            "report this; measure the whole comparison again, without --resume",
        )


def _followers(task: Task, policies: Sequence[Policy]) -> list[Task]:
    """Return the runs that follow from a task, with a placement that stands for the true one."""
    unknown = Placement(b"", 0, 0, 0)
    return [
        follow_up(task, used, unknown) for used in policies if used.frames_from == task.policy.name
    ]


def _as_it_ran(task: Task, run: Mapping[str, Any]) -> Task:
    """Return the task as it was run: without the warm-up, if that had failed."""
    if run["warm_up"] is None and (again := task.without_warm_up()):
        return again
    return replace(task, follow=False)
