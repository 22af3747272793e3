# SPDX-License-Identifier: GPL-2.0
"""kloc bench: what of the kernel itself is measured, rather than a workload."""

from __future__ import annotations

import argparse

from kloc.base import terminal
from kloc.commands import options
from kloc.measure.cost import kernels, runner
from kloc.results import cost_table, document

NAME = "bench"
HELP = "measure the kernel itself: what our patches cost, off and on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "what",
        choices=("cost",),
        help="cost: instructions and cache lines of system calls, against the unpatched kernel",
    )
    named = parser.add_argument(
        "--kernels",
        type=options.comma_list,
        default=(),
        metavar="A,B",
        help="only these beside the unpatched one (default: all of them)",
    )
    options.completes(named, lambda: [each.name for each in kernels.COLUMNS])
    options.add(parser, "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    options.check_outputs(args)
    columns = kernels.choose(args.kernels)
    if args.dry_run:
        for column in columns:
            print(f"{column.name}: {column.summary}")
        return 0
    measured = runner.measure(columns)
    try:
        if args.json is not None:
            document.write(args.json, cost_table.document(measured))
    finally:
        # Whatever becomes of the file, what took minutes is shown.
        for table in cost_table.tables(measured):
            terminal.stdout().print(table)
        for line in cost_table.remarks(measured):
            terminal.stdout().print(line, markup=False)
    return 0
