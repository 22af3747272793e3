# SPDX-License-Identifier: GPL-2.0
"""The part of `kloc heatmap` that records a workload in the two-tier machine.

It is apart because the other part runs on servers, without the packages for measuring.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from kloc.base.errors import KlocError
from kloc.commands import duration, options
from kloc.heat.records import Record
from kloc.machine import profile
from kloc.measure import heat_map, workload
from kloc.measure.heat_map import ATTRIBUTES as ATTRIBUTES
from kloc.measure.runner import measure, prepare
from kloc.measure.task import Task
from kloc.measure.workload import Workload
from kloc.schemes.sysfs import Attributes


@dataclass(frozen=True)
class _Plan:
    """The run of a recording: the workload itself, and the task that records it in `found`."""

    workload: Workload
    task: Task
    found: heat_map.Recorded


def show(args: argparse.Namespace, attributes: Attributes) -> int:
    """Print the run that would be recorded. Raises KlocError for what `record` would refuse."""
    task = _plan(args, attributes).task
    print(f"{task.listing()}: {'all memory' if args.physical else 'the memory of its processes'}")
    duration.say([task])
    return 0


def record(args: argparse.Namespace, attributes: Attributes) -> Record:
    """Run the workload that the options name, and return the record. Raises KlocError."""
    plan = _plan(args, attributes)
    task = plan.task
    parts = prepare([plan.workload], policies=[task.policy])
    measure([task], [task.policy], parts)
    release = parts[plan.workload.name].kernel.release
    return heat_map.record(
        plan.found.text,
        task.title(),
        release,
        task.profile,
        attributes,
        physical=args.physical,
    )


def _plan(args: argparse.Namespace, attributes: Attributes) -> _Plan:
    """Return what the options ask for. Raises KlocError if it cannot be recorded."""
    host = profile.load(args.machine or profile.DEFAULT)
    chosen = workload.load(args.shown)
    used = options.chosen_policy(args)
    if used.frames_from:
        raise KlocError(
            f"policy {used.name} cannot be recorded: it follows from the run of another policy",
            "choose another one with --policy",
        )
    size = workload.QUICK if args.quick else workload.FULL
    changed, found = heat_map.recorded(chosen, host, attributes, args.physical)
    seed = 1 if args.seed is None else args.seed
    return _Plan(chosen, Task(changed, used, host, seed, size), found)
