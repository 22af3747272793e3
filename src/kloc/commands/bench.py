# SPDX-License-Identifier: GPL-2.0
"""`kloc bench`: measures the kernel, or the machine, rather than a workload."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kloc.base import terminal
from kloc.base.errors import UsageError
from kloc.commands import options, output, values
from kloc.machine import profile
from kloc.measure.cost import kernels
from kloc.measure.cost import runner as cost
from kloc.measure.machine_bench import answers
from kloc.measure.machine_bench import runner as machine_bench
from kloc.results import cost_document, cost_table, machine_bench_document, machine_bench_table

COST, MACHINE = "cost", "machine"

USAGE = ("[options] cost", "[options] machine [GROUP...]")

DESCRIPTION = """\
Measure the kernel or the machine itself.

cost: the overhead of the kernel patches while contexts are disabled, enabled and idle, or enabled
and busy: the instructions and cache lines of system calls, compared with the unpatched kernel. It
takes some minutes, and builds each kernel the first time.

machine: known answers of the machine, such as the latency of a pointer chase, beside what the
machine's profile says and figures that were published for real memory. It takes about a minute for
each machine.
"""

EXAMPLES = (
    ("kloc bench cost --kernels base,on", "the overhead of two kernels"),
    ("kloc bench machine", "all known answers"),
    ("kloc bench machine tlb --machines cxl", "one group, one machine"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "what",
        metavar="cost|machine",
        choices=(COST, MACHINE),
        help="what is measured: cost, the overhead of the patches, or machine, its known answers",
    )
    names = ", ".join(one.name for one in answers.GROUPS)
    action = group.add_argument(
        "groups",
        nargs="*",
        metavar="GROUP",
        help=f"with machine: the known answers to measure (default: {names})",
    )
    options.complete_names(action, lambda: [one.name for one in answers.GROUPS])
    group = parser.add_argument_group("measurement")
    names = ", ".join(column.name for column in kernels.COLUMNS[1:])
    action = group.add_argument(
        "--kernels",
        type=values.comma_list,
        default=(),
        metavar="A,B",
        help=f"with cost: the kernels to compare with the unpatched one (default: {names})",
    )
    options.complete_names(action, lambda: [column.name for column in kernels.COLUMNS])
    action = group.add_argument(
        "--machines",
        type=values.comma_list,
        default=(),
        metavar="A,B",
        help="with machine: the machines, or profiles of your own that end in .toml "
        "(default: all; kloc machines lists them)",
    )
    options.complete_names(action, profile.names, ".toml")
    options.add(parser.add_argument_group("output"), "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure the kernels or the machines."""
    output.check(args)
    return _run_cost(args) if args.what == COST else _run_machine(args)


def _run_cost(args: argparse.Namespace) -> int:
    if args.groups:
        raise UsageError(
            f"kloc bench cost takes no group, and got '{args.groups[0]}'",
            "--kernels A,B chooses kernels",
        )
    options.refuse(args, {"machines": ()}, "kloc bench cost runs on no machine", "leave it out")
    columns = kernels.choose(args.kernels)
    if args.dry_run:
        for column in columns:
            print(f"{column.name}: {column.summary}")
        return 0
    measured = cost.measure(columns)
    output.deliver(args, cost_document.assemble(measured), lambda: _print_cost(measured))
    return 0


def _print_cost(measured: Sequence[cost.Measured]) -> None:
    console = terminal.stdout()
    for table in cost_table.tables(measured):
        console.print(table)
    for line in cost_table.remarks(measured):
        console.print(line, markup=False)


def _run_machine(args: argparse.Namespace) -> int:
    """Measure the machines. An answer that is off is shown, and is no error."""
    options.refuse(args, {"kernels": ()}, "kloc bench machine measures one kernel", "leave it out")
    groups = answers.choose(args.groups)
    profiles = [profile.load(name) for name in args.machines or profile.names()]
    if args.dry_run:
        for one in profiles:
            for group in groups:
                print(f"{one.title()}, {group.name}: {'; '.join(group.commands(one))}")
        return 0
    measured = machine_bench.measure(profiles, groups)
    document = machine_bench_document.assemble(measured)
    output.deliver(args, document, lambda: _print_machines(measured))
    return 0


def _print_machines(measured: Sequence[machine_bench.Measured]) -> None:
    console = terminal.stdout()
    for machine in measured:
        console.print(machine_bench_table.table(machine))
    for line in machine_bench_table.remarks(measured):
        console.print(line, markup=False)
