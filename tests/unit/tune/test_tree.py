# SPDX-License-Identifier: GPL-2.0
"""The memory and CPU time of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from kloc.base.errors import KlocError
from kloc.tune.tree import Tree

CHILD = "memory = b'x' * (20 << 20); print('ready', flush=True); input()"


@pytest.fixture
def parent() -> Iterator[int]:
    """The pid of a shell with a child that uses 20 MiB."""
    command = f'"{sys.executable}" -c "{CHILD}"; true'
    process = subprocess.Popen(["sh", "-c", command], stdin=-1, stdout=-1, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process.pid
    process.communicate("\n")


def test_descendants_count(parent: int) -> None:
    found = Tree(parent)
    assert len(found.pids()) == 2 and found.pids()[0] == parent
    assert 20 << 20 < found.memory() < 100 << 20
    assert found.alive()


def test_a_reading_walks_the_tree_once(parent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    walks = []
    children = psutil.Process.children

    def counted(process: psutil.Process, recursive: bool) -> list[psutil.Process]:
        walks.append(process.pid)
        found: list[psutil.Process] = children(process, recursive)
        return found

    monkeypatch.setattr(psutil.Process, "children", counted)
    pids, memory = Tree(parent).read()
    assert len(pids) == 2 and memory > 20 << 20
    assert walks == [parent]


def test_rss_is_used_where_pss_cannot_be_read(parent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(process: psutil.Process) -> None:
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(psutil.Process, "memory_full_info", refused)
    assert Tree(parent).memory() > 20 << 20


def test_cpu_time_of_processes_that_ended_still_counts() -> None:
    script = f'"{sys.executable}" -c "for i in range(10**6): pass"; read line'
    process = subprocess.Popen(["sh", "-c", script], stdin=-1, text=True)
    found, seconds = Tree(process.pid), [0.0]
    end = time.monotonic() + 10
    while (len(found.pids()) > 1 or seconds[-1] == 0) and time.monotonic() < end:
        seconds.append(found.user_seconds())
    assert found.user_seconds() >= max(seconds) > 0
    process.communicate("\n")
    assert not found.alive()


def test_a_process_that_does_not_exist_is_an_error() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    with pytest.raises(KlocError, match="does not exist"):
        Tree(process.pid)
    assert Tree(os.getpid()).alive()
