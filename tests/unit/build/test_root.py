# SPDX-License-Identifier: GPL-2.0
"""What is followed, without a root: a program of the host's, and what it starts."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kloc.base.paths import PROJECT
from kloc.build.root import Root


class Here(Root):
    """Where commands run as they are."""

    def command(self, argv: Sequence[str], **_: Any) -> list[str]:
        return list(argv)


HERE = Here(Path("/"), "")

FOLLOW = """
from test_root import HERE
HERE.follow(["sh", "-c", "sleep 60 & echo $!; wait"], lambda line: print(line, end="", flush=True))
"""


def running(process: int) -> bool:
    """Return whether it runs; a dead one may wait for its parent, whoever that is by now."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def gone(process: int) -> bool:
    deadline = time.monotonic() + 10
    while running(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not running(process)


def test_the_lines_and_the_status_are_the_programs() -> None:
    lines: list[str] = []
    assert HERE.follow(["sh", "-c", "echo a; echo b >&2; exit 3"], lines.append) == 3
    assert lines == ["a\n", "b\n"]


def test_what_a_program_leaves_behind_ends_with_the_call() -> None:
    lines: list[str] = []
    assert HERE.follow(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], lines.append) == 0
    assert gone(int(lines[0]))


def test_what_a_program_has_started_ends_with_its_reader() -> None:
    lines: list[str] = []

    def stop(line: str) -> None:
        lines.append(line)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HERE.follow(["sh", "-c", "sleep 60 & echo $!; wait"], stop)
    assert gone(int(lines[0]))


def test_all_of_it_ends_even_if_this_process_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FOLLOW],
        env={"PYTHONPATH": f"{PROJECT}/src:{Path(__file__).parent}"},
        stdout=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        started = int(follower.stdout.readline())
        assert running(started)
        follower.kill()
    assert gone(started)
