# SPDX-License-Identifier: GPL-2.0
"""`kloc bench`: measures the kernel itself rather than a workload."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kloc.base import terminal
from kloc.commands import options, output, values
from kloc.measure.cost import kernels, runner
from kloc.results import cost_document, cost_table

USAGE = ("[options] cost",)

DESCRIPTION = """\
Measure the overhead of the kernel patches while contexts are disabled, enabled and idle, or
enabled and busy: the instructions and cache lines of system calls, compared with the unpatched
kernel. It takes some minutes, and builds each kernel the first time.
"""

EXAMPLES = (
    ("kloc bench cost", "all kernels"),
    ("kloc bench cost --kernels base,on --json c.json", "two of them"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "what", metavar="cost", choices=("cost",), help="what is measured: cost, the overhead"
    )
    group = parser.add_argument_group("measurement")
    names = ", ".join(column.name for column in kernels.COLUMNS[1:])
    action = group.add_argument(
        "--kernels",
        type=values.comma_list,
        default=(),
        metavar="A,B",
        help=f"the kernels to compare with the unpatched one (default: {names})",
    )
    options.complete_names(action, lambda: [column.name for column in kernels.COLUMNS])
    options.add(parser.add_argument_group("output"), "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure the kernels."""
    output.check(args)
    columns = kernels.choose(args.kernels)
    if args.dry_run:
        for column in columns:
            print(f"{column.name}: {column.summary}")
        return 0
    measured = runner.measure(columns)
    output.deliver(args, cost_document.assemble(measured), lambda: _print(measured))
    return 0


def _print(measured: Sequence[runner.Measured]) -> None:
    console = terminal.stdout()
    for table in cost_table.tables(measured):
        console.print(table)
    for line in cost_table.remarks(measured):
        console.print(line, markup=False)
