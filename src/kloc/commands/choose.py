# SPDX-License-Identifier: GPL-2.0
"""`kloc choose`: chooses running processes and cgroups, so that their files get contexts."""

from __future__ import annotations

import argparse

from kloc.base.errors import UsageError
from kloc.commands import values
from kloc.server import cgroups, control, processes, tiering

USAGE = ("[options] PID...", "[options] --cgroup CGROUP")

DESCRIPTION = """\
Choose running processes or cgroups. With the scope 'chosen', files that they and their new children
use from now on get contexts. With the scope 'all', all files have contexts anyway.
"""

EXAMPLES = (
    ("kloc choose 1234", "one process"),
    ("kloc choose $(pidof mysqld)", "all processes of a program"),
    ("kloc choose --cgroup mysql.service", "a unit"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments."""
    add_targets(parser)


def run(args: argparse.Namespace) -> int:
    """Choose the processes and cgroups, up to the first that fails."""
    check(args)
    for pid in args.pids:
        processes.choose(pid)
    set_cgroups(args, "1")
    processes.warn_if_ineffective()
    return 0


def add_targets(parser: argparse.ArgumentParser) -> None:
    """Add the argument PID... and the option --cgroup."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "pids",
        nargs="*",
        # 0 would be kloc itself.
        type=values.whole_number(1, processes.PID_MAX),
        metavar="PID",
        help="the id of a process",
    )
    group.add_argument(
        "--cgroup",
        action="append",
        default=[],
        metavar="CGROUP",
        help="a cgroup with its processes: its path, its unit, or . for kloc's own",
    )


def check(args: argparse.Namespace) -> None:
    """Raise UsageError unless a process or a cgroup is given."""
    if not args.pids and not args.cgroup:
        raise UsageError("missing argument: PID or --cgroup CGROUP", "ps -e lists the processes")


def set_cgroups(args: argparse.Namespace, enabled: str) -> None:
    """Write whether the cgroups of --cgroup are chosen. Raises KlocError if one does not exist."""
    if args.cgroup:
        tiering.check_kernel()
        found = [cgroups.file(cgroups.find(name), cgroups.ENABLED) for name in args.cgroup]
        control.set_limits([(path, enabled) for path in found])
