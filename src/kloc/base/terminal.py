# SPDX-License-Identifier: GPL-2.0
"""Messages and questions for the user, on stderr, and the console for results, on stdout.

Only results go to stdout, through `print` or `stdout()`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from kloc.base.errors import KlocError

if TYPE_CHECKING:
    from rich.console import Console


@dataclass
class Settings:
    """The values of the options that all commands have."""

    yes: bool = False
    verbose: bool = False


settings = Settings()


@cache
def stderr() -> Console:
    """Return the console for messages and progress (stderr)."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


@cache
def stdout() -> Console:
    """Return the console for results (stdout): in color on a terminal, plain in a file."""
    from rich.console import Console

    return Console(highlight=False)


def say(message: str) -> None:
    """Print `message` on stderr."""
    stderr().print(message, markup=False)


def detail(message: str) -> None:
    """Print `message` on stderr if `--verbose` is given."""
    if settings.verbose:
        stderr().print(message, markup=False, style="dim")


def command_line(argv: Sequence[str]) -> None:
    """Print a command that is about to run if `--verbose` is given."""
    detail("+ " + shlex.join(argv))


def ask(question: str, unattended: str) -> bool:
    """Ask the user a yes/no `question` and return whether the answer is yes.

    `--yes` answers yes; Ctrl-D (end of input) answers no. Raises KlocError with the hint
    `unattended` if stdin is no terminal and `--yes` is not given.
    """
    if settings.yes:
        return True
    if not sys.stdin.isatty():
        raise KlocError(f"cannot ask without a terminal: {question}", hint=unattended)
    try:
        answer = stderr().input(f"{question} [Y/n] ")
    except EOFError:
        # Ctrl-D leaves the cursor on the question's line.
        say("")
        return False
    return answer.strip().lower() in ("", "y", "yes")
