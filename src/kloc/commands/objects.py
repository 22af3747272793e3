# SPDX-License-Identifier: GPL-2.0
"""kloc objects: what a workload's pages are used for, and for how long they live."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from kloc.base import terminal
from kloc.commands import options
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import object_use, workload
from kloc.measure.policy import load
from kloc.measure.record import Run
from kloc.measure.runner import Incomplete, Interrupted, measure, prepare
from kloc.measure.task import Task
from kloc.results import document, object_plot, object_table

NAME = "objects"
HELP = "show what a workload's pages are used for: kinds, references, misses, lifetimes"

READING = (
    "lifetime: from allocation to release, of pages that had both in the measured region; "
    "those alive at its end are counted apart.",
    "interval: between two references to the same page that the L1 cache did not serve.",
    "Socket buffers' slabs are in socket, jbd2's in journal.",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    what = parser.add_argument("workload", metavar="WORKLOAD", help="what to run")
    options.completes(what, workload.names)
    options.add(parser, "machine", "variant", "seed", "json", "report")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it there, as .svg or .png")
    options.add(parser, "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    options.check_outputs(args)
    if args.plot:
        object_plot.check_plot(args.plot)
    what = workload.load(args.workload)
    todo = object_use.tasks(what, options.machine(args), args.seed)
    if args.dry_run:
        for name, task in todo.items():
            print(f"{task.title()}, {name} input, observed")
        return 0
    parts = prepare([what])
    policies = [load(object_use.POLICY)]
    try:
        measured = measure(list(todo.values()), policies, parts, args.follow)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _show(args, parts, what.name, todo, ended.runs)
        raise
    _show(args, parts, what.name, todo, measured)
    return 0


def _show(
    args: argparse.Namespace,
    parts: Mapping[str, Parts],
    name: str,
    todo: Mapping[str, Task],
    measured: Sequence[Run],
) -> None:
    """Write and print what was found of the inputs that were measured."""
    runs = {
        size: run
        for size, task in todo.items()
        for run in measured
        if run["size"] == asdict(task.size)
    }
    host = next(iter(todo.values())).profile
    versions = document.assemble(parts.values(), asdict(profile.load(args.machine)), [])
    sizes = {size: task.size for size, task in todo.items()}
    made = object_table.document(versions, name, runs, sizes)
    inputs = {size: object_use.uses(each["objects"]) for size, each in runs.items()}
    try:
        options.deliver(args, made, lambda: _print(name, inputs))
    finally:
        if args.plot:
            object_plot.plot(args.plot, f"{name} on {host.title()}", inputs)


def _print(name: str, inputs: Mapping[str, object_use.Uses]) -> None:
    for size, of in inputs.items():
        for made in object_table.tables(f"{name}, {size} input", of):
            terminal.stdout().print(made)
    for line in READING:
        terminal.stdout().print(line, markup=False)
