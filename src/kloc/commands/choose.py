# SPDX-License-Identifier: GPL-2.0
"""`kloc choose`: chooses running processes, so that their files get contexts."""

from __future__ import annotations

import argparse

from kloc.commands import values
from kloc.server import processes

USAGE = ("[options] PID...",)

DESCRIPTION = """\
Choose running processes. With the scope 'chosen', files that they and their new children use from
now on get contexts. With the scope 'all', all files have contexts anyway.
"""

EXAMPLES = (
    ("kloc choose 1234", "one process"),
    ("kloc choose $(pidof mysqld)", "all processes of a program"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments."""
    add_pids(parser)


def run(args: argparse.Namespace) -> int:
    """Choose the processes, up to the first that fails."""
    for pid in args.pids:
        processes.choose(pid)
    processes.warn_if_ineffective()
    return 0


def add_pids(parser: argparse.ArgumentParser) -> None:
    """Add the argument PID..."""
    parser.add_argument_group("arguments").add_argument(
        "pids",
        nargs="+",
        # 0 would be kloc itself.
        type=values.whole_number(1, processes.PID_MAX),
        metavar="PID",
        help="the id of a process",
    )
