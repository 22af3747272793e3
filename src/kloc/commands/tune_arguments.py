# SPDX-License-Identifier: GPL-2.0
"""The arguments of `kloc tune`, and which of them fit together."""

from __future__ import annotations

import argparse
from pathlib import Path

from kloc.base import environment, plots
from kloc.base.errors import UsageError
from kloc.commands import output, scheme_arguments, values
from kloc.schemes import text
from kloc.tune import optimizer

SEED, WORKLOAD_SEED = 1, 101
"""The default seeds: of the optimizer, and with a workload, of both.

Tables show the seeds from 1 up, and a threshold must not be fitted to the runs that they compare.
"""

MACHINE = "tiered"
"""The default machine of workloads."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    scheme_arguments.add_scheme(group, required=True)
    group.add_argument(
        "workload",
        nargs="?",
        metavar="WORKLOAD",
        help="tune for this workload in the machine (kloc workloads lists them)",
    )
    scheme_arguments.add_pid(group, "tune for this running process instead of a command")
    group = parser.add_argument_group("samples")
    length = group.add_mutually_exclusive_group()
    length.add_argument(
        "--limit",
        type=scheme_arguments.seconds,
        metavar="TIME",
        help="take as many samples as fit into this time, such as 30m",
    )
    length.add_argument(
        "--samples", type=values.whole_number(3), metavar="N", help="take N samples, such as 10"
    )
    group.add_argument(
        "--unit",
        type=scheme_arguments.seconds,
        metavar="TIME",
        help="with --pid: how long to measure each value (default: twice the largest age of the "
        "range, at least 10 s)",
    )
    group.add_argument(
        "--optimizer",
        choices=list(optimizer.OPTIMIZERS),
        default=optimizer.DEFAULT,
        metavar="NAME",
        help=f"what chooses the values: {', '.join(optimizer.OPTIMIZERS)} (default: %(default)s)",
    )
    group.add_argument(
        "--seed",
        type=values.whole_number(0, values.SEED_MAX),
        default=None,
        metavar="N",
        help=f"the random seed (default: {SEED}; with a workload {WORKLOAD_SEED}, because tables "
        "show seeds from 1 up)",
    )
    _add_scores(parser)
    scheme_arguments.add_monitoring(parser)
    _add_machine(parser.add_argument_group("machine, with a workload"))
    group = parser.add_argument_group("output")
    output.add_json(group)
    output.add_plot(group, "the result")
    group.add_argument(
        "--apply",
        action="store_true",
        help="with --pid: leave the tuned scheme applied if it is better than none",
    )
    output.add_dry_run(group)


def _add_machine(group: argparse._ArgumentGroup) -> None:
    length = group.add_mutually_exclusive_group()
    length.add_argument(
        "--quick", action="store_true", help="a quarter of the load and of the measured region"
    )
    length.add_argument("--long", action="store_true", help="four times the measured region")
    group.add_argument(
        "--machine",
        metavar="MACHINE",
        help=f"the machine (default: {MACHINE}; kloc machines lists them)",
    )
    group.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="keep each measurement in FILE, and do not repeat those that it has: the same "
        "command continues a tuning that was stopped",
    )


def _add_scores(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("score")
    kind = group.add_mutually_exclusive_group()
    kind.add_argument(
        "--score",
        metavar="FILE.py:FUNCTION",
        help="a function of two measurements, under the value and without a scheme, each with "
        ".runtime and .memory",
    )
    kind.add_argument(
        "--score-command",
        metavar="COMMAND",
        help="a shell command that prints the score; it gets KLOC_RUNTIME, KLOC_MEMORY, "
        "KLOC_BASELINE_RUNTIME and KLOC_BASELINE_MEMORY",
    )
    kind.add_argument(
        "--sla",
        type=_percent,
        default=None,
        metavar="PERCENT",
        help="the performance that may be lost (default: 10); a value that loses more gets the "
        "worst score so far",
    )
    group.add_argument(
        "--progress",
        metavar="COMMAND",
        help="with --pid: a shell command that prints how much work was done so far (default: "
        "CPU time in user mode)",
    )


def check(args: argparse.Namespace) -> None:
    """Raise an error for options that do not fit together."""
    how = "kloc tune SCHEME --samples 10 -- COMMAND..., or --pid PID, or WORKLOAD"
    _check_order(args)
    if [bool(args.program), args.pid is not None, args.workload is not None].count(True) != 1:
        raise UsageError(
            "name either a command after '--', a process with --pid, or a workload", how
        )
    if args.workload is None and (args.quick or args.long or args.machine or args.resume):
        raise UsageError("--quick, --long, --machine and --resume need a workload", how)
    if args.seed is None:
        args.seed = SEED if args.workload is None else WORKLOAD_SEED
    args.machine = args.machine or MACHINE
    if args.pid is None and (args.unit or args.progress or args.apply):
        raise UsageError(
            "--unit, --progress and --apply need --pid",
            "a command is measured from its start to its end, and then there is no process",
        )
    output.check(args)
    if args.plot is not None:
        plots.check(args.plot)
        environment.require("measure", "kloc tune --plot")


def _check_order(args: argparse.Namespace) -> None:
    """Raise UsageError with the right command line if a workload or a policy is misplaced."""
    if not environment.has("measure"):
        return
    # A server without these packages has neither workloads nor their policies.
    from kloc.measure import policy, workload

    first, second = args.scheme, args.workload
    is_file = Path(first).exists() and not first.endswith(policy.SUFFIX)
    is_scheme = first in text.names() or is_file
    if not is_scheme and first in workload.names():
        known = second in text.names() or second in policy.names()
        raise UsageError(
            f"{first} is a workload: the scheme or the policy to tune comes before it",
            f"kloc tune {second if known else 'SCHEME|POLICY'} {first}"
            + (" --samples 10" if second in text.names() else ""),
        )
    is_policy = first in policy.names() or first.endswith(policy.SUFFIX)
    if not is_scheme and is_policy and second is None:
        raise UsageError(
            f"{first} is a policy, and policies are tuned for a workload",
            f"kloc tune {first} WORKLOAD; kloc workloads lists them",
        )


def check_length(args: argparse.Namespace) -> None:
    """Raise UsageError unless the number of samples of a scheme is known."""
    if args.limit is None and args.samples is None:
        raise UsageError(
            "say how long to tune, with --limit or --samples", "kloc tune prcl --samples 10 -- ./a"
        )


def _percent(word: str) -> float:
    """Return a percentage from 0 to 100 as a share, as argparse's `type`."""
    try:
        value = float(word.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"'{word}' is not a percentage from 0 to 100")
    return value / 100
