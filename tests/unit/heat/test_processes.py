# SPDX-License-Identifier: GPL-2.0
"""Process trees and their mapped memory."""

from __future__ import annotations

import mmap
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kloc.base.ranges import joined
from kloc.heat import processes


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    """A shell with a child."""
    process = subprocess.Popen(["sh", "-c", "sleep 1000; true"], start_new_session=True)
    yield process
    with pytest.MonkeyPatch.context():
        os.killpg(process.pid, 9)
    process.wait()


@pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="CONFIG_PROC_CHILDREN"
)
def test_descendants_are_found_until_the_process_ends(shell: subprocess.Popen[bytes]) -> None:
    while len(found := processes.tree(shell.pid)) < 2:
        assert shell.poll() is None
    assert found[0] == shell.pid
    os.killpg(shell.pid, 9)
    # Nobody has waited for it yet.
    while processes.is_running(shell.pid):
        pass
    assert processes.tree(shell.pid) == []
    assert Path(f"/proc/{shell.pid}").exists()


def test_a_process_has_its_name_and_memory() -> None:
    memory = mmap.mmap(-1, 8 << 20)
    found = processes.mapped(os.getpid())
    assert processes.name(os.getpid())
    assert found == sorted(found)
    assert any(end - start >= len(memory) for start, end in joined(found))
    assert processes.name(1 << 30) == "" and processes.mapped(1 << 30) == []


def test_reserved_addresses_and_those_of_the_kernel_are_left_out(
    monkeypatch: Any, tmp_path: Path
) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/maps").write_text(
        "00400000-00500000 r-xp 00000000 08:01 1 /bin/a b\n"
        "10000000-90000000 ---p 00000000 00:00 0\n"
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"
    )
    monkeypatch.setattr(processes, "PROC", tmp_path)
    assert processes.mapped(7) == [(0x400000, 0x500000)]


def test_known_processes_keep_their_order() -> None:
    assert processes.in_order([5, 3, 9], [3, 4, 5]) == [5, 3, 4]
    assert len(processes.in_order([], list(range(100)))) == processes.MOST
