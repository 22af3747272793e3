# SPDX-License-Identifier: GPL-2.0
"""Checks the program or the process that a command would measure, before it does."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from kloc.base.errors import KlocError
from kloc.heat import processes


def check_program(program: Sequence[str]) -> None:
    """Raise KlocError unless the program of a command line exists and may be executed."""
    if shutil.which(program[0]) is None:
        raise KlocError(
            f"cannot execute {program[0]}: there is no such program, or it may not be executed",
            "name a program that exists and may be executed after '--'",
        )


def check_process(pid: int) -> str:
    """Return the name of a process. Raises KlocError if it does not run."""
    if not processes.is_running(pid):
        raise KlocError(f"process {pid} does not exist", "ps -e lists the processes")
    return processes.name(pid)
