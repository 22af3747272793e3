# SPDX-License-Identifier: GPL-2.0
"""`kloc release`: releases processes and cgroups that were chosen."""

from __future__ import annotations

import argparse

from kloc.commands import choose
from kloc.server import processes

USAGE = ("[options] PID...", "[options] --cgroup CGROUP")

DESCRIPTION = """\
Undo kloc choose, or kloc exec, for processes or cgroups. Files that they use from now on get no
contexts.
"""

EXAMPLES = (("kloc release 1234", "one process"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments."""
    choose.add_targets(parser)


def run(args: argparse.Namespace) -> int:
    """Release the processes and cgroups, up to the first that fails."""
    choose.check(args)
    for pid in args.pids:
        processes.release(pid)
    choose.set_cgroups(args, "0")
    processes.warn_if_ineffective()
    return 0
