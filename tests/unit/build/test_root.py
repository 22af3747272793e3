# SPDX-License-Identifier: GPL-2.0
"""Root.follow, with programs of the host instead of a root's, and the children they start."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build.root import Root


class HostRoot(Root):
    """Runs commands on the host."""

    def command(self, argv: Sequence[str], **_: Any) -> list[str]:
        return list(argv)


HOST = HostRoot(Path("/"), "")

FOLLOW = """
from test_root import HOST
HOST.follow(["sh", "-c", "sleep 60 & echo $!; wait"], lambda line: print(line, end="", flush=True))
"""


def is_running(process: int) -> bool:
    """Return whether a process runs. A zombie, which waits for its parent, does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def ends(process: int) -> bool:
    """Return whether a process ends within ten seconds."""
    deadline = time.monotonic() + 10
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(process)


def test_follow_passes_on_lines_and_status() -> None:
    lines: list[str] = []
    assert HOST.follow(["sh", "-c", "echo a; echo b >&2; exit 3"], lines.append) == 3
    assert lines == ["a\n", "b\n"]


def test_children_that_outlive_the_program_are_killed() -> None:
    lines: list[str] = []
    assert HOST.follow(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], lines.append) == 0
    assert ends(int(lines[0]))


def test_children_are_killed_when_following_is_interrupted() -> None:
    lines: list[str] = []

    def stop(line: str) -> None:
        lines.append(line)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HOST.follow(["sh", "-c", "sleep 60 & echo $!; wait"], stop)
    assert ends(int(lines[0]))


def test_children_are_killed_when_this_process_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FOLLOW],
        env={"PYTHONPATH": f"{PROJECT}/src:{Path(__file__).parent}"},
        stdout=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        child = int(follower.stdout.readline())
        assert is_running(child)
        follower.kill()
    assert ends(child)


def test_run_passes_stdin_and_returns_stdout() -> None:
    assert HOST.run(["cat"], stdin="text") == "text"


def test_run_that_fails_quotes_the_last_lines() -> None:
    with pytest.raises(KlocError, match="sh failed") as error:
        HOST.run(["sh", "-c", "seq 100; exit 3"])
    lines = error.value.message.splitlines()[1:]
    assert lines[-1] == "100"
    assert len(lines) < 20
