# SPDX-License-Identifier: GPL-2.0
"""The part of `kloc heatmap` that records a workload in the two-tier machine.

It is apart because the other part runs on servers, without the packages for measuring.
"""

from __future__ import annotations

import argparse

from kloc.base.errors import KlocError
from kloc.commands import options
from kloc.heat.records import Record
from kloc.machine import profile
from kloc.measure import heat_map, workload
from kloc.measure.heat_map import ATTRIBUTES as ATTRIBUTES
from kloc.measure.runner import measure, prepare
from kloc.measure.task import Task
from kloc.schemes.sysfs import Attributes


def record(args: argparse.Namespace, attributes: Attributes) -> Record:
    """Run the workload that the options name, and return the record. Raises KlocError."""
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
    task = Task(changed, used, host, seed, size)
    parts = prepare([chosen])
    measure([task], [used], parts)
    release = parts[chosen.name].kernel.release
    return heat_map.record(
        found.text, task.title(), release, host, attributes, physical=args.physical
    )
