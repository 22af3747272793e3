# SPDX-License-Identifier: GPL-2.0
"""`kloc doctor`: what is there, what is missing, what to do about it."""

import argparse

NAME = "doctor"
HELP = "say what is there, what is missing and what to do about it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kloc doctor`."""


def run(args: argparse.Namespace) -> int:
    """Print the findings; 1 if something is missing that kloc cannot get by itself."""
    return 0
