# SPDX-License-Identifier: GPL-2.0
"""`kloc disable`: processes that were chosen are not any more."""

from __future__ import annotations

import argparse

from kloc.commands import enable

NAME = "disable"
HELP = "undo kloc enable, or kloc exec, of processes: what they use from now on gets no contexts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    enable.add_pids(parser)


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    return enable.choose_all(args.pids, on=False)
