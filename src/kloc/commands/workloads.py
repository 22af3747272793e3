# SPDX-License-Identifier: GPL-2.0
"""kloc workloads: what can be measured."""

from __future__ import annotations

import argparse

from kloc.commands import listing
from kloc.measure import workload

NAME = "workloads"
HELP = "list the workloads"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    listing.add_arguments(parser, workload.names)


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    known = [workload.load(name) for name in workload.names()]
    return listing.show(
        args,
        [
            {"name": each.name, "summary": each.summary, "packages": list(each.packages)}
            for each in known
        ],
    )
