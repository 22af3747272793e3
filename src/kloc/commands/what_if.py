# SPDX-License-Identifier: GPL-2.0
"""kloc what-if: a workload with all pages of some kinds fast and of the others slow."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kloc import profile, result, table, ui, whatif, workload
from kloc.commands import options
from kloc.machine import Parts
from kloc.measure import Incomplete, Interrupted, prepare

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
            whatif.rows(), whatif.tasks(whatif.rows(), what, host, args.seed, size), strict=True
        ):
            print(f"{task.title()}: fast are {', '.join(row.fast) or 'none'}")
        print("computed from the first: oracle")
        return 0
    parts = prepare([what])
    try:
        runs, skipped = whatif.run(what, host, args.seed, size, parts[what.name], args.follow)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _show(args, parts, ended.runs, [])
        raise
    _show(args, parts, runs, skipped)
    return 0


def _show(
    args: argparse.Namespace,
    parts: Mapping[str, Parts],
    runs: list[result.Run],
    skipped: Sequence[str],
) -> None:
    base = profile.load(args.machine)
    document = result.document(parts.values(), asdict(base), runs)
    options.deliver(args, document, lambda: _print(runs, skipped))


def _print(runs: list[result.Run], skipped: Sequence[str]) -> None:
    console = ui.console_out()
    console.print(*table.comparisons(runs, console.width, first="pages that are fast"), sep="\n")
    for line in [*table.remarks(runs), *whatif.remarks(runs, skipped)]:
        ui.console_out().print(line, markup=False)
