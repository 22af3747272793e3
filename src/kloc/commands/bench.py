# SPDX-License-Identifier: GPL-2.0
"""`kloc bench`: measures the kernel, the machine or this host, rather than a workload."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kloc.base import terminal
from kloc.base.errors import UsageError
from kloc.commands import completers, options, output, values
from kloc.machine import profile
from kloc.measure import speed
from kloc.measure.cost import kernels
from kloc.measure.cost import runner as cost
from kloc.measure.machine_bench import answers
from kloc.measure.machine_bench import runner as machine_bench
from kloc.results import (
    cost_document,
    cost_table,
    machine_bench_document,
    machine_bench_table,
    speed_document,
    speed_table,
)

COST, MACHINE, SPEED = "cost", "machine", "speed"

USAGE = ("[options] cost", "[options] machine [GROUP...]", "[options] speed")

DESCRIPTION = """\
Measure the kernel, the machine or this host.

cost: the overhead of the kernel patches while no policy of memory tiers is selected, and under the
policy kloc, idle and busy: the instructions and cache lines of system calls, compared with the
unpatched kernel. It takes some minutes, and builds each kernel the first time.

machine: known answers of the machine, such as the latency of a pointer chase, beside what the
machine's profile says and figures that were published for real memory. It takes about a minute for
each machine.

speed: how fast this host simulates, without and with the timing model, in guest instructions per
CPU second. It takes about a minute.
"""

EXAMPLES = (
    ("kloc bench cost --kernels base,on", "the overhead of two kernels"),
    ("kloc bench machine tlb --machines cxl", "one group, one machine"),
    ("kloc bench speed", "the speed of this host"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "what",
        metavar="cost|machine|speed",
        choices=(COST, MACHINE, SPEED),
        help="what is measured: cost, the overhead of the patches, machine, its known answers, "
        "or speed, that of the simulation on this host",
    )
    names = ", ".join(one.name for one in answers.GROUPS)
    action = group.add_argument(
        "groups",
        nargs="*",
        metavar="GROUP",
        help=f"with machine: the known answers to measure (default: {names})",
    )
    completers.complete_names(action, lambda: [one.name for one in answers.GROUPS])
    group = parser.add_argument_group("measurement")
    names = ", ".join(column.name for column in kernels.COLUMNS[1:])
    action = group.add_argument(
        "--kernels",
        type=values.comma_list,
        default=(),
        metavar="A,B",
        help=f"with cost: the kernels to compare with the unpatched one (default: {names})",
    )
    completers.complete_names(action, lambda: [column.name for column in kernels.COLUMNS])
    action = group.add_argument(
        "--machines",
        type=values.comma_list,
        default=(),
        metavar="A,B",
        help="with machine: the machines, or profiles of your own that end in .toml "
        "(default: all; kloc machines lists them)",
    )
    completers.complete_names(action, profile.names, ".toml")
    options.add(parser.add_argument_group("output"), "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure the kernels, the machines or the host."""
    output.check(args)
    runs = {COST: _run_cost, MACHINE: _run_machine, SPEED: _run_speed}
    return runs[args.what](args)


def _run_cost(args: argparse.Namespace) -> int:
    _refuse_groups(args, "--kernels A,B chooses kernels")
    options.refuse(args, {"machines": ()}, "kloc bench cost runs on no machine", "leave it out")
    columns = kernels.choose(args.kernels)
    if args.dry_run:
        for column in columns:
            print(f"{column.name}: {column.summary}")
        return 0
    measured = cost.measure(columns)
    output.deliver(args, cost_document.assemble(measured), lambda: _print_cost(measured))
    return 0


def _refuse_groups(args: argparse.Namespace, hint: str) -> None:
    if args.groups:
        raise UsageError(f"kloc bench {args.what} takes no group, and got '{args.groups[0]}'", hint)


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


def _run_speed(args: argparse.Namespace) -> int:
    _refuse_groups(args, "leave it out")
    defaults: dict[str, object] = {"kernels": (), "machines": ()}
    options.refuse(args, defaults, "kloc bench speed measures one machine", "leave it out")
    if args.dry_run:
        print(f"{speed.task().listing()}, --quick")
        return 0
    measured = speed.measure()
    document = speed_document.assemble(measured)
    output.deliver(args, document, lambda: terminal.stdout().print(speed_table.table(measured)))
    return 0


def _print_machines(measured: Sequence[machine_bench.Measured]) -> None:
    console = terminal.stdout()
    for machine in measured:
        console.print(machine_bench_table.table(machine))
    for line in machine_bench_table.remarks(measured):
        console.print(line, markup=False)
