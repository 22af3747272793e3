# SPDX-License-Identifier: GPL-2.0
"""`kloc config`: checks kloc.toml."""

from __future__ import annotations

import argparse
from pathlib import Path

from kloc.base import terminal
from kloc.server import config

USAGE = ("[options] check [FILE]",)

DESCRIPTION = """\
Check a file of settings for kloc on, /etc/kloc/kloc.toml by default. An error names the line and
the key, and what is allowed. Settings are checked against the files of kloc's kernel in
/sys/kernel/mm/tiering and /sys/kernel/mm/kloc, and otherwise against those of the running kernel.
kloc on --dry-run says what else the server lacks.
"""

EXAMPLES = (
    ("kloc config check", "check /etc/kloc/kloc.toml"),
    ("kloc config check ./kloc.toml", "check another file"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments."""
    group = parser.add_argument_group("arguments")
    group.add_argument("action", choices=("check",), metavar="ACTION", help="what to do: check")
    group.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help=f"a file of settings (default: {config.DEFAULT})",
    )


def run(args: argparse.Namespace) -> int:
    """Check the file. Raises KlocError if something in it is wrong."""
    path = args.file or config.DEFAULT
    settings, notes = config.check(path)
    print(f"{path} is valid: policy {settings.policy}")
    for note in notes:
        terminal.say(note)
    return 0
