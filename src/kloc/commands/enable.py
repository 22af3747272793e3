# SPDX-License-Identifier: GPL-2.0
"""`kloc enable`: choose processes that run, so that their files have contexts."""

from __future__ import annotations

import argparse

from kloc.server import processes

NAME = "enable"
HELP = "choose processes: files that they use from now on, and their new children, have contexts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    add_pids(parser)


def run(args: argparse.Namespace) -> int:
    """Choose them; return the exit status."""
    return choose_all(args.pids, on=True)


def add_pids(parser: argparse.ArgumentParser) -> None:
    """Let it take numbers of processes."""
    parser.add_argument("pids", nargs="+", type=_pid, metavar="PID", help="number of a process")


def choose_all(pids: list[int], on: bool) -> int:
    """Choose all of them, or none of them any more; stop at the first that fails."""
    for pid in pids:
        (processes.choose if on else processes.release)(pid)
    processes.warn_if_ineffective()
    return 0


def _pid(text: str) -> int:
    # 0 would be this command itself.
    if not text.isdecimal() or not 0 < int(text) <= processes.PID_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of a process")
    return int(text)
