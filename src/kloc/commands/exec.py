# SPDX-License-Identifier: GPL-2.0
"""`kloc exec`: a command whose files have contexts."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from kloc.base.errors import KlocError
from kloc.server import processes

NAME = "exec"
HELP = "choose a command, given after '--', and what it starts: its files have contexts"
TAKES_PROGRAM = True

CALLERS_PYTHONPATH = "KLOC_CALLERS_PYTHONPATH"
"""Where the launcher keeps the PYTHONPATH that it was started with."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options: it has none."""


def run(args: argparse.Namespace) -> int:
    """Become the command; return only if that fails."""
    if not args.program:
        raise KlocError("there is no command", "kloc exec -- COMMAND...")
    processes.choose()
    processes.warn_if_ineffective()
    become(args.program, callers(os.environ))


def become(program: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Execute the program in place of this process; KlocError if there is none."""
    # Python ignores these, and what is executed would inherit it.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    try:
        os.execvpe(program[0], list(program), environment)
    except OSError as error:
        raise KlocError(f"{program[0]} cannot be executed: {error.strerror}") from error


def callers(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what kloc's launcher has put there for itself."""
    own = dict(environment)
    own.pop("PYTHONPATH", None)
    if (path := own.pop(CALLERS_PYTHONPATH, None)) is not None:
        own["PYTHONPATH"] = path
    return own
