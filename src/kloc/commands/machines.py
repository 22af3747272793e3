# SPDX-License-Identifier: GPL-2.0
"""`kloc machines`: lists the machine profiles, with their figures."""

from __future__ import annotations

import argparse

from kloc.commands import listing
from kloc.machine import profile

USAGE = ("[options] [NAME...]",)

DESCRIPTION = """\
List the machines: the capacity, latency and bandwidth of fast and slow memory, the core and the
disk of each.
"""

EXAMPLES = (
    ("kloc machines", "all machines"),
    ("kloc machines tiered", "one, with all its figures"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    listing.add_arguments(parser, profile.names)


def run(args: argparse.Namespace) -> int:
    """Print the machines."""
    return listing.show(args, "machine", [profile.read(name).as_dict() for name in profile.names()])
