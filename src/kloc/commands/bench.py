# SPDX-License-Identifier: GPL-2.0
"""`kloc bench`: measures the kernel, the machine, this host, or the tables of the documents."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from kloc.base import paths, terminal
from kloc.base.errors import UsageError
from kloc.commands import (
    bench_tables,
    completers,
    options,
    output,
    scheme_arguments,
    values,
)
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
    wanted,
)

COST, MACHINE, SPEED, TABLES = "cost", "machine", "speed", "tables"

OF_TABLES: Mapping[str, object] = {
    "results": None,
    "limit": None,
    "write": False,
    "check": False,
}
"""The options of tables, with their defaults."""

USAGE = (
    "[options] cost",
    "[options] machine [GROUP...]",
    "[options] speed",
    "[options] tables [TABLE...]",
)

DESCRIPTION = """\
Measure the kernel, the machine, this host, or the tables of results in README.md and docs.

cost: the overhead of the kernel patches while no policy of memory tiers is selected, and under the
policy kloc, idle and busy: the instructions and cache lines of system calls, compared with the
unpatched kernel. It takes some minutes, and builds each kernel the first time.

machine: known answers of the machine, such as the latency of a pointer chase, beside what the
machine's profile says and figures that were published for real memory. It takes about a minute for
each machine.

speed: how fast this host simulates, without and with the timing model, in guest instructions per
CPU second. It takes about a minute.

tables: the tables of results that docs/tables.toml lists. Runs that have no result yet are
measured, which takes hours and can be stopped at any time; the next call goes on. Then the tables
are written into the documents, with the commit and a hash of their inputs.
"""

EXAMPLES = (
    ("kloc bench cost --kernels base,on", "the overhead of two kernels"),
    ("kloc bench machine tlb --machines cxl", "one group, one machine"),
    ("kloc bench tables --limit 30m", "a part of the tables"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "what",
        metavar="WHAT",
        choices=(COST, MACHINE, SPEED, TABLES),
        help="what is measured: cost, machine, speed or tables",
    )
    names = ", ".join(one.name for one in answers.GROUPS)
    action = group.add_argument(
        "groups",
        nargs="*",
        metavar="GROUP|TABLE",
        help=f"with machine: the known answers to measure (default: {names}); "
        "with tables: the tables (default: all)",
    )
    completers.complete_names(
        action, lambda: [*(one.name for one in answers.GROUPS), *wanted.load(paths.PROJECT)]
    )
    group = parser.add_argument_group("measurement")
    names = ", ".join(column.name for column in kernels.COLUMNS[1:])
    action = group.add_argument(
        "--kernels",
        type=values.comma_list,
        action=values.AddUp,
        default=(),
        metavar="A,B",
        help=f"with cost: the kernels to compare with the unpatched one (default: {names})",
    )
    completers.complete_names(action, lambda: [column.name for column in kernels.COLUMNS])
    action = group.add_argument(
        "--machines",
        type=values.comma_list,
        action=values.AddUp,
        default=(),
        metavar="A,B",
        help="with machine: the machines, or profiles of your own that end in .toml "
        "(default: all; kloc machines lists them)",
    )
    completers.complete_names(action, profile.names, ".toml")
    _add_tables(parser.add_argument_group("tables"))
    options.add(parser.add_argument_group("output"), "json", "dry-run")


def _add_tables(group: argparse._ArgumentGroup) -> None:
    """Add the options of `kloc bench tables`."""
    group.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="the directory of the results (default: tables in the cache directory)",
    )
    group.add_argument(
        "--limit",
        type=scheme_arguments.seconds,
        metavar="TIME",
        help="stop after the first run that ends later than that, such as 30m",
    )
    part = group.add_mutually_exclusive_group()
    part.add_argument(
        "--write",
        action="store_true",
        help="measure nothing: write the tables whose runs all have results",
    )
    part.add_argument(
        "--check",
        action="store_true",
        help="measure and write nothing: say whether the documents show what the results give",
    )


def run(args: argparse.Namespace) -> int:
    """Measure the kernels, the machines, the host or the tables."""
    output.check(args)
    if args.what != TABLES:
        reason = "kloc bench tables has these options"
        options.refuse(args, OF_TABLES, reason, f"leave it out of kloc bench {args.what}")
    runs = {COST: _run_cost, MACHINE: _run_machine, SPEED: _run_speed, TABLES: _run_tables}
    return runs[args.what](args)


def _run_tables(args: argparse.Namespace) -> int:
    others: dict[str, object] = {"kernels": (), "machines": (), "json": None}
    options.refuse(args, others, f"{wanted.LIST} says what tables are of", "leave it out")
    if args.limit is not None and (args.write or args.check or args.dry_run):
        raise UsageError("--limit: nothing is measured", "leave it out")
    if args.dry_run and (args.write or args.check):
        raise UsageError("--dry-run lists runs, and --write and --check measure none")
    return bench_tables.bench(args)


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
        terminal.print_line(line)


def _run_machine(args: argparse.Namespace) -> int:
    """Measure the machines. An answer that is off is shown, and is no error."""
    options.refuse(args, {"kernels": ()}, "kloc bench machine measures one kernel", "leave it out")
    profiles = [profile.load(name) for name in args.machines or profile.names()]
    groups = answers.choose_for(args.groups, profiles)
    if args.dry_run:
        for one in profiles:
            for group in groups:
                if not answers.expected_answers([group], one):
                    continue
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
        terminal.print_line(line)
