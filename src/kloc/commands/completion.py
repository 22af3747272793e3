# SPDX-License-Identifier: GPL-2.0
"""`kloc completion`: prints the code that lets a shell complete kloc's command lines."""

from __future__ import annotations

import argparse
import importlib.metadata

SHELLS = ("bash", "zsh", "fish")

NATIVE_ZSH = 3
"""The first version of argcomplete with code for zsh; Debian 12 has 2."""

BASH_IN_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
"""Lets zsh understand the code for bash."""

USAGE = (f"[options] {{{','.join(SHELLS)}}}",)

DESCRIPTION = """\
Print the code that lets your shell complete commands, options, workloads, policies and machines.
Put the first example into ~/.bashrc to have it in every bash.
"""

EXAMPLES = (
    ('eval "$(kloc completion bash)"', "bash"),
    ('eval "$(kloc completion zsh)"', "zsh, after compinit"),
    ("kloc completion fish | source", "fish"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments."""
    parser.add_argument_group("arguments").add_argument(
        "shell", metavar="SHELL", choices=SHELLS, help=f"your shell: {', '.join(SHELLS)}"
    )


def run(args: argparse.Namespace) -> int:
    """Print the code."""
    from argcomplete.shell_integration import shellcode

    if args.shell == "zsh" and _major_version() < NATIVE_ZSH:
        print(BASH_IN_ZSH + shellcode(["kloc"], shell="bash"))
    else:
        print(shellcode(["kloc"], shell=args.shell))
    return 0


def _major_version() -> int:
    return int(importlib.metadata.version("argcomplete").partition(".")[0])
