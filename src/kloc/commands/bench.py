# SPDX-License-Identifier: GPL-2.0
"""kloc bench: what of the kernel itself is measured, rather than a workload."""

from __future__ import annotations

import argparse

from kloc import cost, result, ui
from kloc.commands import options

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
        help="only these beside the unpatched one "
        f"(default: {', '.join(each.name for each in cost.COLUMNS if each != cost.REFERENCE)})",
    )
    options.completes(named, lambda: [each.name for each in cost.COLUMNS])
    options.add(parser, "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    options.check_outputs(args)
    columns = cost.choose(args.kernels)
    if args.dry_run:
        for column in columns:
            print(f"{column.name}: {column.summary}")
        return 0
    measured = cost.measure(columns)
    try:
        if args.json is not None:
            result.write(args.json, cost.document(measured))
    finally:
        # Whatever becomes of the file, what took minutes is shown.
        for table in cost.tables(measured):
            ui.console_out().print(table)
        for line in cost.remarks(measured):
            ui.console_out().print(line, markup=False)
    return 0
