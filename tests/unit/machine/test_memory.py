# SPDX-License-Identifier: GPL-2.0
"""The memory's layout, and the files that share it."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from kloc.machine import profile
from kloc.machine.memory import (
    DMA_ZONE,
    FAST_FRAMES,
    PROGRESS,
    RECORD,
    SharedMemory,
    memory_ranges,
)

TIERED = profile.read("tiered")


def test_nodes_follow_each_other_without_a_gap() -> None:
    fast, slow = memory_ranges(TIERED)
    assert fast == (0, 0, TIERED.fast.capacity + DMA_ZONE, 0)
    assert slow == (1, fast.size, TIERED.slow.capacity, 0)


def test_sockets_share_both_tiers_and_their_files() -> None:
    ranges = memory_ranges(replace(TIERED, sockets=2))
    assert [node.tier for node in ranges] == [0, 0, 1, 1]
    assert [node.start for node in ranges[1:]] == [node.start + node.size for node in ranges[:-1]]
    for tier, capacity in ((0, TIERED.fast.capacity + DMA_ZONE), (1, TIERED.slow.capacity)):
        first, second = (node for node in ranges if node.tier == tier)
        assert (first.offset, second.offset) == (0, first.size)
        assert first.size + second.size == capacity


def test_each_part_has_a_file_of_its_size() -> None:
    memory = SharedMemory(TIERED, fast_frames=b"\1\0\1")
    sizes = {name: Path(path).stat().st_size for name, path in memory.files.items()}
    memory.close()
    assert sizes == {
        "fast": TIERED.fast.capacity + DMA_ZONE,
        "slow": TIERED.slow.capacity,
        PROGRESS: RECORD.size,
        FAST_FRAMES: 3,
    }


def test_without_frames_there_is_no_file_for_them() -> None:
    memory = SharedMemory(TIERED)
    memory.close()
    assert FAST_FRAMES not in memory.files


def test_progress_that_the_model_writes_is_read() -> None:
    memory = SharedMemory(TIERED)
    with Path(memory.files[PROGRESS]).open("r+b") as record:
        record.write(struct.pack("<QQ", 2**63 + 5, 7))
    assert (memory.instructions, memory.time_ns) == (2**63 + 5, 7)
    memory.close()


def test_close_returns_the_memory() -> None:
    memory = SharedMemory(TIERED)
    memory.close()
    for fd in memory.fds:
        with pytest.raises(OSError):
            os.fstat(fd)
