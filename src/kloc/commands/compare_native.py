# SPDX-License-Identifier: GPL-2.0
"""`kloc compare --native`: compares the policies of the running kernel, on the server itself."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kloc.base import environment, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.words import plural
from kloc.commands import exec as exec_command
from kloc.commands import output, values
from kloc.commands.completers import complete_names
from kloc.measure import workload
from kloc.measure.workload import Size
from kloc.native import comparison, host, programs, result, settings, subject
from kloc.native.comparison import Comparison, Interrupted, Stopped
from kloc.native.subject import Subject
from kloc.native.trial import Run
from kloc.results import ahead
from kloc.results import native as shown
from kloc.server import control, policy_files
from kloc.server.control import State

USAGE = ("[options] WORKLOAD...", "[options] -- COMMAND [ARGUMENT...]")

DESCRIPTION = """\
Compare policies of the running kernel on this server itself, without the simulated machine: as
root, with two tiers of memory.

In each round, the program runs under every policy once, in an order that is drawn. The policy is
set as kloc policy sets it, the page cache is dropped, and kloc waits until pages move no more. At
the end, everything is as it was before, also after Ctrl-C or an error. After a kill -9, kloc off
restores it.
"""

EXAMPLES = (
    ("kloc compare --native -- ./bench.sh", "your own program, five rounds"),
    ("kloc compare --native redis --load 40", "a workload of kloc"),
    ("kloc compare --native redis --dry-run", "what would be run and written"),
)

ROUNDS = 5

LOAD, SECONDS = 1.0, 10.0
"""The default size of workloads: that of the machine, for longer than there."""

SCRATCH = Path("/var/tmp")

SETTLE_SECONDS = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    workloads = group.add_argument(
        "workloads",
        nargs="*",
        metavar="WORKLOAD",
        help="a workload to measure (kloc workloads NAME says whether it can be measured natively)",
    )
    complete_names(workloads, workload.names)
    group = parser.add_argument_group("measurement")
    group.add_argument(
        "--native", action="store_true", help="measure on this server, not in the machine"
    )
    policies = group.add_argument(
        "--policies",
        type=values.comma_list,
        action=values.AddUp,
        default=(),
        metavar="A,B",
        help=f"the policies to compare (default: those of {', '.join(settings.DEFAULT)} that this "
        "server can have; kloc policy lists all)",
    )
    complete_names(policies, policy_files.of_servers)
    group.add_argument(
        "--rounds",
        type=values.whole_number(1),
        default=ROUNDS,
        metavar="N",
        help=f"run each policy so many times (default: {ROUNDS})",
    )
    group.add_argument(
        "--seed",
        type=values.whole_number(0, values.SEED_MAX),
        default=1,
        metavar="N",
        help="draw the order of policies with this random seed (default: 1)",
    )
    group.add_argument(
        "--settle",
        type=values.interval,
        default=SETTLE_SECONDS,
        metavar="SECONDS",
        help="wait at most so long, before each run, until pages move no more "
        f"(default: {SETTLE_SECONDS:g})",
    )
    group.add_argument(
        "--scratch",
        type=Path,
        default=SCRATCH,
        metavar="DIR",
        help=f"the directory for files of runs, which are removed (default: {SCRATCH})",
    )
    group = parser.add_argument_group("a workload")
    group.add_argument(
        "--load",
        type=values.factor,
        default=None,
        metavar="F",
        help="multiply the data of the workload, which is that of the machine (default: "
        f"{LOAD:g}); it has to exceed fast memory",
    )
    group.add_argument(
        "--seconds",
        type=values.interval,
        default=None,
        metavar="S",
        help="measure so many operations as the machine does in S seconds when all its memory is "
        f"fast (default: {SECONDS:g})",
    )
    group = parser.add_argument_group("a program of your own")
    group.add_argument(
        "--setup",
        type=Path,
        metavar="SCRIPT",
        help="run this shell script before COMMAND in each run; it is not measured",
    )
    group.add_argument(
        "--warm-up",
        type=values.whole_number(0),
        default=None,
        metavar="N",
        help="run COMMAND so many times before it is measured (default: 0)",
    )
    group = parser.add_argument_group("output")
    against = group.add_argument(
        "--against",
        metavar="POLICY",
        help="the baseline of the ratios round by round (default: the first measured one of "
        f"{', '.join(ahead.BASELINES)})",
    )
    complete_names(against, policy_files.of_servers)
    output.add_json(group)
    group.add_argument("--report", type=Path, metavar="FILE", help="write an HTML report to FILE")
    output.add_dry_run(group)


def run(args: argparse.Namespace) -> int:
    """Measure the workloads or the command."""
    output.check(args)
    if args.report is not None:
        environment.require("measure", "kloc compare --report")
    subjects = _subjects(args)
    host.check()
    before = control.state()
    policies, left_out = settings.usable(args.policies, before)
    settings.require_several(policies)
    if args.against is not None and args.against not in policies:
        raise UsageError(
            f"--against {args.against}: this policy is not among those that are compared",
            f"add it to --policies, or name one of {', '.join(policies)}",
        )
    compared = Comparison(subjects, policies, args.rounds, args.seed, args.scratch, args.settle)
    for name, reason in left_out.items():
        terminal.say(f"{name} is left out: {reason}")
    if args.dry_run:
        _list(compared, before)
        return 0
    programs.require(programs.packages(one.workload for one in subjects if one.workload))
    return _measure(args, compared, before, left_out)


def _subjects(args: argparse.Namespace) -> list[Subject]:
    """Return what is to be measured. Raises UsageError if that is nothing, or too much."""
    if args.program is not None and args.workloads:
        raise UsageError(
            "both a workload and a program are given",
            "kloc compare --native WORKLOAD..., or kloc compare --native -- COMMAND...",
        )
    if args.program is None and not args.workloads:
        raise UsageError(
            "no workload and no program is given",
            "kloc compare --native WORKLOAD..., or kloc compare --native -- COMMAND...",
        )
    if stored := [name for name in args.workloads if name.endswith(".json")]:
        raise UsageError(
            f"{stored[0]} is a result file, which is shown without --native",
            f"kloc compare {stored[0]}",
        )
    if args.program is None:
        _refuse(args, ("setup", "warm_up"), "this is for a program of your own")
        size = Size(float(args.load or LOAD), float(args.seconds or SECONDS))
        names = dict.fromkeys(args.workloads)
        return [subject.of_workload(subject.native(name), size) for name in names]
    if not args.program:
        raise UsageError("no command after '--'", "kloc compare --native -- COMMAND...")
    _refuse(args, ("load", "seconds"), "this is for workloads")
    environment_ = exec_command.callers_environment(os.environ)
    return [subject.of_command(args.program, _read(args.setup), args.warm_up or 0, environment_)]


def _refuse(args: argparse.Namespace, names: Sequence[str], reason: str) -> None:
    for name in names:
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')}: {reason}", "leave it out")


def _read(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KlocError(f"--setup {path} cannot be read: {error}", "name a shell script") from error


def _list(compared: Comparison, before: State) -> None:
    """Print the runs in their order, what is written for each policy, and how long it takes."""
    for one, policy, number, _ in compared.runs():
        print(f"round {number}: {one.name} under {policy}")
    for policy in compared.policies:
        print(f"{policy} sets:")
        changes = settings.changes(policy, before)
        print("\n".join(f"  {path} {text}" for path, text in changes.items()) or "  nothing")
    runs = compared.runs()
    at_least = sum(comparison.seconds_at_least(one) for one, *_ in runs)
    print(
        f"{plural(len(runs), 'run')}: {at_least / 60:.1f} min or more, and the time to load data "
        "and to run a COMMAND"
    )


def _measure(
    args: argparse.Namespace, compared: Comparison, before: State, left_out: dict[str, str]
) -> int:
    def content(runs: Sequence[Run]) -> dict[str, Any]:
        made = result.assemble(compared, before, left_out, runs)
        return ahead.included(made, args.against)

    def deliver(runs: Sequence[Run]) -> None:
        document = content(runs)
        output.deliver(
            args, document, lambda: shown.show(document, terminal.stdout(), args.against)
        )

    try:
        runs = comparison.measure(compared, before)
    except (Stopped, Interrupted) as ended:
        if ended.runs:
            deliver(ended.runs)
        raise
    deliver(runs)
    return 0
