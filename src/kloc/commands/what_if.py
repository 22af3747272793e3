# SPDX-License-Identifier: GPL-2.0
"""kloc what-if: a workload with all pages of some kinds fast and of the others slow."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kloc.base import terminal
from kloc.commands import options
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import record, what_if, workload
from kloc.measure.runner import Incomplete, Interrupted, prepare
from kloc.results import document, table

NAME = "what-if"
HELP = "measure what placing pages by kind would win, in the model alone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    what = parser.add_argument("workload", metavar="WORKLOAD", help="what to run")
    options.completes(what, workload.names)
    options.add(parser, "machine", "variant", "seed", "length")
    options.add(parser, "json", "report", "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    options.check_outputs(args)
    what = workload.load(args.workload)
    host, size = options.machine(args), options.size(args)
    if args.dry_run:
        for row, task in zip(
            what_if.rows(), what_if.tasks(what_if.rows(), what, host, args.seed, size), strict=True
        ):
            print(f"{task.title()}: fast are {', '.join(row.fast) or 'none'}")
        print("computed from the first: oracle")
        return 0
    parts = prepare([what])
    try:
        runs, skipped = what_if.run(what, host, args.seed, size, parts[what.name], args.follow)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _show(args, parts, ended.runs, [])
        raise
    _show(args, parts, runs, skipped)
    return 0


def _show(
    args: argparse.Namespace,
    parts: Mapping[str, Parts],
    runs: list[record.Run],
    skipped: Sequence[str],
) -> None:
    base = profile.load(args.machine)
    made = document.assemble(parts.values(), asdict(base), runs)
    options.deliver(args, made, lambda: _print(runs, skipped))


def _print(runs: list[record.Run], skipped: Sequence[str]) -> None:
    console = terminal.stdout()
    console.print(*table.comparisons(runs, console.width, first="pages that are fast"), sep="\n")
    for line in [*table.remarks(runs), *what_if.remarks(runs, skipped)]:
        terminal.stdout().print(line, markup=False)
