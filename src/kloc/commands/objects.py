# SPDX-License-Identifier: GPL-2.0
"""kloc objects: what a workload's pages are used for, and for how long they live."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from kloc import objects, result, ui, workload
from kloc.commands import options
from kloc.measure import measure, prepare
from kloc.policy import load

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
        objects.check_plot(args.plot)
    what = workload.load(args.workload)
    todo = objects.tasks(what, options.machine(args), args.seed)
    if args.dry_run:
        for name, task in todo.items():
            print(f"{task.title()}, {name} input, observed")
        return 0
    parts = prepare([what])
    measured = measure(list(todo.values()), [load(objects.POLICY)], parts, args.follow)
    runs = {
        name: run
        for name, task in todo.items()
        for run in measured
        if run["size"] == asdict(task.size)
    }
    host = next(iter(todo.values())).profile
    versions = result.document(parts.values(), asdict(host), [])
    sizes = {name: task.size for name, task in todo.items()}
    document = objects.document(versions, what.name, runs, sizes)
    options.write_outputs(args, document)
    inputs = {name: objects.uses(each["objects"]) for name, each in runs.items()}
    if args.plot:
        objects.plot(args.plot, f"{what.name} on {host.title()}", inputs)
    for name, of in inputs.items():
        for made in objects.tables(f"{what.name}, {name} input", of):
            ui.console_out().print(made)
    for line in READING:
        ui.console_out().print(line, markup=False)
    return 0
