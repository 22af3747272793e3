# SPDX-License-Identifier: GPL-2.0
"""`kloc machines`: lists the machine profiles, with their figures."""

from __future__ import annotations

import argparse

from kloc.base import paths
from kloc.commands import listing
from kloc.machine import profile

USAGE = ("[options] [NAME...]",)

DESCRIPTION = """\
List the machines: the capacity, latency and bandwidth of fast and slow memory, the core and the
disk of each.

Files NAME.toml in ~/.config/kloc/machines and /etc/kloc/machines are machines, too.
"""

EXAMPLES = (
    ("kloc machines", "all machines"),
    ("kloc machines tiered", "one, with all its figures"),
    ("kloc machines mine.toml", "the machine of a file"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    listing.add_arguments(parser, profile.names)


def run(args: argparse.Namespace) -> int:
    """Print the machines, or those of files that the user named."""
    files = [name for name in args.names if paths.is_path(name, ".toml")]
    rows = [{**profile.read(name).as_dict(), "name": name} for name in (*profile.names(), *files)]
    return listing.show(args, "machine", rows)
