# SPDX-License-Identifier: GPL-2.0
"""Scripts that start servers and talk to them, with shell commands as servers."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from kloc.measure import served

# A server gets its FIFOs as ask=FIFO answer=FIFO.
READY = """sh -c 'echo ready >"${2#answer=}"; read -r line <"${1#ask=}"; echo "$line"' sh"""


def run(script: str, directory: Path) -> tuple[int, str]:
    """Run a script as the agent does, with FIFOs in a directory: its status, and its output."""
    argv = ["sh", "-ec", script.replace("/run/kloc", str(directory))]
    with (directory / "output").open("w+") as output:
        with subprocess.Popen(argv, stdout=output, stderr=output, start_new_session=True) as shell:
            try:
                status = shell.wait(timeout=10)
            finally:
                # What still waits for a reader, too.
                with suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGKILL)
        output.seek(0)
        return status, output.read()


def test_a_server_that_answers_has_started(tmp_path: Path) -> None:
    script = f"{served.start(READY)}echo words >{served.ASK}\nwait\n"
    assert run(script, tmp_path) == (0, "ready\nwords\n")


@pytest.mark.parametrize(("command", "status"), [("false", 1), ("no_such_program", 127)])
def test_a_server_that_ends_before_it_answers_fails(
    command: str, status: int, tmp_path: Path
) -> None:
    failed, output = run(served.start(command), tmp_path)
    assert failed and f"the server ended with status {status}" in output


def test_a_server_that_answers_with_an_error_fails(tmp_path: Path) -> None:
    command = """sh -c 'echo no memory >"${2#answer=}"; exit 1' sh"""
    failed, output = run(served.start(command), tmp_path)
    # That it has ended follows if its FIFO is still being read.
    assert failed and output.splitlines()[0] == "no memory"
