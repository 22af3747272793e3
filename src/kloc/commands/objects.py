# SPDX-License-Identifier: GPL-2.0
"""`kloc objects`: shows what a workload's pages are used for, and how long they live."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kloc.base import plots, terminal
from kloc.commands import duration, options, output
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import object_use, workload
from kloc.measure.policy import load
from kloc.measure.record import Run
from kloc.measure.runner import Incomplete, Interrupted, measure, prepare
from kloc.measure.task import Task
from kloc.results import document, object_document, object_plot, object_table

USAGE = ("[options] WORKLOAD",)

DESCRIPTION = """\
Run a small and a large input of a workload, and print for each page kind (application, page
cache, slab caches, sockets, page tables, journal) how many pages it has, how long they live, and
its share of memory references and of cache misses.
"""

EXAMPLES = (
    ("kloc objects rocksdb", "print the tables"),
    ("kloc objects redis --plot redis.svg", "draw them, too"),
)

NOTES = (
    "lifetime: from allocation to release, of pages that had both in the measured region; "
    "those alive at its end are counted apart.",
    "interval: between two references to the same page that the L1 cache did not serve.",
    "Socket buffers' slabs are in socket, jbd2's in journal.",
)
"""Printed below the tables."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    options.add_workload(parser)
    options.add(parser.add_argument_group("measurement"), "seed")
    options.add(parser.add_argument_group("machine"), "machine", "variant")
    group = parser.add_argument_group("output")
    options.add(group, "json", "report")
    output.add_plot(group, "the results")
    options.add(group, "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure both inputs."""
    output.check(args)
    if args.plot:
        plots.check(args.plot)
    chosen = workload.load(args.workload)
    tasks = object_use.tasks(chosen, options.machine(args), args.seed)
    if args.dry_run:
        for name, task in tasks.items():
            print(f"{task.title()}, {name} input, observed")
        duration.say(list(tasks.values()))
        return 0
    parts = prepare([chosen])
    policies = [load(object_use.POLICY)]
    try:
        runs = measure(list(tasks.values()), policies, parts, args.follow)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _deliver(args, parts, chosen.name, tasks, ended.runs)
        raise
    _deliver(args, parts, chosen.name, tasks, runs)
    return 0


def _deliver(
    args: argparse.Namespace,
    parts: Mapping[str, Parts],
    name: str,
    tasks: Mapping[str, Task],
    runs: Sequence[Run],
) -> None:
    """Deliver the results of the inputs that were measured."""
    run_by_input = {
        size: run
        for size, task in tasks.items()
        for run in runs
        if run["size"] == asdict(task.size)
    }
    host = next(iter(tasks.values())).profile
    base = document.assemble(parts.values(), profile.load(args.machine).as_dict(), [])
    sizes = {size: task.size for size, task in tasks.items()}
    content = object_document.assemble(base, name, run_by_input, sizes)
    inputs = {size: object_use.uses(run["objects"]) for size, run in run_by_input.items()}
    try:
        output.deliver(args, content, lambda: _print(name, inputs))
    finally:
        if args.plot:
            object_plot.plot(args.plot, f"{name} on {host.title()}", inputs)


def _print(name: str, inputs: Mapping[str, object_use.Uses]) -> None:
    console = terminal.stdout()
    for size, kinds in inputs.items():
        for table in object_table.tables(f"{name}, {size} input", kinds):
            console.print(table)
    for line in NOTES:
        terminal.print_line(line)
