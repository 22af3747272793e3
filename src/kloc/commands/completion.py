# SPDX-License-Identifier: GPL-2.0
"""`kloc completion`: what makes a shell complete kloc's command lines."""

from __future__ import annotations

import argparse

NAME = "completion"
HELP = "print what makes your shell complete the names of commands, options, workloads and so on"

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "shell", choices=SHELLS, help='which one; in bash: eval "$(kloc completion bash)"'
    )


def run(args: argparse.Namespace) -> int:
    """Print the code for the shell."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["kloc"], shell=args.shell))
    return 0
