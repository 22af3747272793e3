# SPDX-License-Identifier: GPL-2.0
"""`kloc exec`: runs a command whose files get contexts."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from kloc.base import paths
from kloc.base.errors import UsageError, cannot_execute
from kloc.server import processes

USAGE = ("[options] -- COMMAND [ARGUMENT...]",)

DESCRIPTION = """\
Run a command as a chosen process. With the scope 'chosen', files that it and its children use get
contexts. With the scope 'all', all files have contexts anyway.
"""

EXAMPLES = (("kloc exec -- tar -cf /backup.tar /srv", "the files of tar get contexts"),)

CALLERS_PYTHONPATH = "KLOC_CALLERS_PYTHONPATH"
"""The environment variable in which the launcher keeps the PYTHONPATH of its caller."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the command follows `--`."""


def run(args: argparse.Namespace) -> int:
    """Replace this process by the command; return only by an error."""
    if not args.program:
        raise UsageError("no command after '--'", "kloc exec -- COMMAND...")
    processes.choose()
    processes.warn_if_ineffective()
    replace_process(args.program, callers_environment(os.environ))


def replace_process(program: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Execute the program in this process. Raises KlocError if it cannot be executed."""
    # Python ignores these signals, and an executed program inherits what is ignored.
    before = {
        number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGPIPE, signal.SIGXFSZ)
    }
    sys.stdout.flush()
    try:
        os.execvpe(program[0], list(program), environment)
    except OSError as error:
        for number, handler in before.items():
            signal.signal(number, handler)
        raise cannot_execute(program[0], error) from error


def callers_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the launcher's caller: without what the launcher sets.

    An installed kloc has no launcher, and PYTHONPATH is the caller's.
    """
    callers = dict(environment)
    if callers.get("PYTHONPATH") == str(paths.PACKAGE.parent):
        del callers["PYTHONPATH"]
    if (path := callers.pop(CALLERS_PYTHONPATH, None)) is not None:
        callers["PYTHONPATH"] = path
    return callers
