# SPDX-License-Identifier: GPL-2.0
"""Scripts for workload programs that run as a server from the load to the check.

Such a program keeps its memory between the slices of the warm-up and the measured region. It reads
commands from one FIFO, and writes the answers to another one: workloads/src/serve.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kloc.measure.workload import SLICES_MAX, Outcome, Size, Workload

ASK, ANSWER = "/run/kloc/ask", "/run/kloc/answer"


class Server(Protocol):
    """A workload whose program is a server: the scripts that talk to it, as `Workload` has them."""

    @property
    def name(self) -> str:
        """Name of the workload."""

    @property
    def summary(self) -> str:
        """What it does, in a line."""

    def setup(self, size: Size, seed: int) -> str:
        """Return the script that starts the server."""

    def warm_up(self, size: Size, seed: int) -> str:
        """Return the script of a slice of the warm-up."""

    def measured(self, size: Size, seed: int) -> str:
        """Return the script of the region."""

    def check(self, size: Size, seed: int) -> str:
        """Return the script that checks the work and ends the server."""

    def outcome(self, printed: Mapping[str, str], size: Size) -> Outcome:
        """Return the work that was done; raise WorkloadFailed if it was not."""


def workload(server: Server, program: str, instructions: float, **more: Any) -> Workload:
    """Return the workload of a server, whose `program` is a file of workloads/src.

    `more` are further fields of the workload.
    """
    return Workload(
        name=server.name,
        summary=server.summary,
        packages=(),
        programs=(program,),
        setup=server.setup,
        warm_up=server.warm_up,
        slices_max=SLICES_MAX,
        measured=server.measured,
        check=server.check,
        outcome=server.outcome,
        instructions=instructions,
        **more,
    )


def start(command: str) -> str:
    """Return the script that starts a server, `command`, and waits until it has loaded its data.

    The script fails if the server ends, also before it can answer.
    """
    return f"""
mkfifo {ASK} {ANSWER}
{{ {command} ask={ASK} answer={ANSWER} || echo "the server ended with status $?" >{ANSWER}; }} &
{_answer("ready")}"""


def ask(command: str, expected: str) -> str:
    """Return the script that sends a server a command and prints its answer.

    The script fails if no line of the answer begins with `expected`: it is an error message then.
    """
    return f'echo "{command}" >{ASK}\n{_answer(expected)}'


def _answer(expected: str) -> str:
    return (
        f"cat {ANSWER} >/run/kloc/said\ncat /run/kloc/said\ngrep -q '^{expected}' /run/kloc/said\n"
    )
