# SPDX-License-Identifier: GPL-2.0
"""`kloc package`: builds the Debian package of the commands for servers."""

from __future__ import annotations

import argparse
from pathlib import Path

from kloc.build import deb
from kloc.commands import options

USAGE = ("[options]",)

DESCRIPTION = """\
Build the Debian package kloc, with the commands for servers, their man pages and completion. It is
for Debian 12 or later, on any architecture. Its version has the time and hash of the commit, so
that apt upgrades to the package of a later commit. docs/server.md says how to install it.
"""

EXAMPLES = (
    ("kloc package", "in the current directory"),
    ("kloc package --output /srv/packages", "in another one"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the directory that the package is written to (default: the current one)",
    )
    options.add(group, "dry-run")


def run(args: argparse.Namespace) -> int:
    """Build the package, and print its path."""
    if args.dry_run:
        print(f"would build {args.output.absolute() / deb.file_name(deb.version())}")
        return 0
    print(deb.build(args.output.absolute()))
    return 0
