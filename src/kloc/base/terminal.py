# SPDX-License-Identifier: GPL-2.0
"""What is said to the person: messages, progress, questions. All of it goes to stderr.

stdout is left to results, which `print` or `console_out` writes.
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
    """What the options common to all commands said."""

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
    """Return the console for results (stdout): coloured on a terminal, plain in a file."""
    from rich.console import Console

    return Console(highlight=False)


def say(message: str) -> None:
    """Print one line for the person."""
    stderr().print(message, markup=False)


def detail(message: str) -> None:
    """Print one line that only `--verbose` shows."""
    if settings.verbose:
        stderr().print(message, markup=False, style="dim")


def command_line(argv: Sequence[str]) -> None:
    """Show, under `--verbose`, a command that is about to run."""
    detail("+ " + shlex.join(argv))


def ask(question: str, unattended: str) -> bool:
    """Ask a yes/no `question`; `--yes` answers it, and the end of the input (Ctrl-D) is a no.

    Without a terminal and without `--yes` nobody can answer: KlocError with the hint `unattended`.
    """
    if settings.yes:
        return True
    if not sys.stdin.isatty():
        raise KlocError(f"{question} Nobody is there to answer", hint=unattended)
    try:
        answer = stderr().input(f"{question} [Y/n] ")
    except EOFError:
        # The cursor is still behind the question.
        say("")
        return False
    return answer.strip().lower() in ("", "y", "yes")
