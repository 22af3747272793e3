# SPDX-License-Identifier: GPL-2.0
"""kloc machines: the machine profiles, with their figures."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from kloc.commands import listing
from kloc.machine import profile

NAME = "machines"
HELP = "list the machines that can be measured on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    listing.add_arguments(parser, profile.names)


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    return listing.show(args, [asdict(profile.read(name)) for name in profile.names()])
