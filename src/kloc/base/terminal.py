# SPDX-License-Identifier: GPL-2.0
"""Messages and questions for the user, on stderr, and the console for results, on stdout.

Only results go to stdout, through `print` or `stdout()`.
"""

from __future__ import annotations

import io
import os
import shlex
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kloc.base.errors import KlocError

if TYPE_CHECKING:
    from rich.console import Console


STDOUT = "standard output"
"""The file that errors of writing to stdout name (see `name_stdout`)."""

WIDE = 10_000
"""Columns, more than a line of a list takes."""


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

    return Console(stderr=True, highlight=False, soft_wrap=True, _environ=_size_known())


@cache
def stdout() -> Console:
    """Return the console for results (stdout): in color on a terminal, plain in a file.

    Its width is $COLUMNS, else that of the terminal, and 80 in a file.
    """
    from rich.console import Console

    return Console(highlight=False, _environ=_size_known())


class _NamedFile(io.FileIO):
    """A file whose errors name it as STDOUT."""

    def write(self, data: Any, /) -> int:
        """Write as `io.FileIO` does."""
        try:
            return super().write(data)
        except OSError as error:
            error.filename = STDOUT
            raise


def name_stdout() -> None:
    """Let errors of writing to stdout name it, as errors of other files do.

    A closed stdout or stderr is replaced by one that goes nowhere: who has closed it wants to see
    nothing.
    """
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(os.devnull, "w")))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(os.devnull, "w")))
        return
    old = sys.stdout
    raw = _NamedFile(old.fileno(), "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding,
        errors=old.errors,
        line_buffering=old.isatty(),
    )


def lists() -> Console:
    """Return the console for lists and tables that need not fit a width.

    It is `stdout` on a terminal. In a file or pipe, lines are as long as their text, so that
    programs such as grep find all of it, unless $COLUMNS says otherwise.
    """
    from rich.console import Console

    environment = _size_known()
    if stdout().is_terminal or "COLUMNS" in environment:
        return stdout()
    return Console(highlight=False, width=WIDE)


def print_line(text: str) -> None:
    """Print a line of results. It is folded at words on a terminal, and not in a file."""
    stdout().print(text, markup=False, soft_wrap=not stdout().is_terminal)


def _size_known() -> dict[str, str]:
    """Return the environment without a size of 0, with which programs say that it is unknown."""
    unknown = {name for name in ("COLUMNS", "LINES") if os.environ.get(name, "").strip("0") == ""}
    return {name: value for name, value in os.environ.items() if name not in unknown}


def say(message: str) -> None:
    """Print `message` on stderr."""
    stderr().print(message, markup=False)


def say_link(label: str, path: Path) -> None:
    """Print a line with `label` and the URL of a file on stderr, which a terminal opens on a click.

    It is no result, and so it does not go to stdout. The URL can also be copied, from a terminal
    without links and from a file.
    """
    from rich.style import Style
    from rich.text import Text

    url = path.absolute().as_uri()
    # With the host's name, as `ls --hyperlink` has it, a terminal on another host (ssh) can tell
    # that the file is not one of its own.
    target = url.replace("file://", f"file://{socket.gethostname()}", 1)
    stderr().print(Text.assemble(f"{label}: ", (url, Style(link=target))))


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
