# SPDX-License-Identifier: GPL-2.0
"""Runs kloc's commands inside the test's process, as the command line does."""

from __future__ import annotations

import argparse

from kloc import cli, commands


def parse(*argv: str) -> argparse.Namespace:
    """Return the options of a command line. Raises SystemExit or UsageError if it is wrong."""
    return cli.parse(argv)


def run(*argv: str) -> int:
    """Run a command line and return its exit status, without handling of errors."""
    args = parse(*argv)
    command: commands.Command = args.command
    return command.load().run(args)
