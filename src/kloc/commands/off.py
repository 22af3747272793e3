# SPDX-License-Identifier: GPL-2.0
"""`kloc off`: restores the settings from before kloc was on."""

from __future__ import annotations

import argparse

from kloc.server import control

USAGE = ("[options]",)

DESCRIPTION = """\
Stop the policy's daemon, if there is one, and restore the settings of the kernel from before kloc
was on, also if kloc on was killed. Pages stay where they are. Nothing happens if kloc is off.
"""

EXAMPLES = (("kloc off", "restore what was there before"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(args: argparse.Namespace) -> int:
    """Turn kloc off."""
    print("kloc is off, and what it had set is restored" if control.turn_off() else "kloc is off")
    return 0
