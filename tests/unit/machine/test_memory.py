# SPDX-License-Identifier: GPL-2.0
"""The memory's layout, and the files that share it."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from kloc.machine import profile
from kloc.machine.memory import (
    DMA_ZONE,
    PAGE_BYTES,
    PAGE_INSTRUCTIONS,
    SharedMemory,
    memory_ranges,
)

TIERED = profile.read("tiered")


def test_nodes_follow_each_other_without_a_gap() -> None:
    fast, slow = memory_ranges(TIERED)
    assert fast == (0, 0, TIERED.fast.capacity + DMA_ZONE)
    assert slow == (1, fast[2], TIERED.slow.capacity)


def test_each_tier_and_the_page_have_a_file_of_their_size() -> None:
    memory = SharedMemory(TIERED)
    sizes = {name: Path(path).stat().st_size for name, path in memory.files.items()}
    memory.close()
    assert sizes == {
        "fast": TIERED.fast.capacity + DMA_ZONE,
        "slow": TIERED.slow.capacity,
        "page": PAGE_BYTES,
    }


def test_words_that_others_write_to_the_page_are_read() -> None:
    memory = SharedMemory(TIERED)
    with Path(memory.files["page"]).open("r+b") as page:
        page.seek(PAGE_INSTRUCTIONS)
        page.write(struct.pack("<Q", 2**63 + 5))
    assert memory.read_u64(PAGE_INSTRUCTIONS) == 2**63 + 5
    memory.close()


def test_close_returns_the_memory() -> None:
    memory = SharedMemory(TIERED)
    memory.close()
    for fd in memory.fds:
        with pytest.raises(OSError):
            os.fstat(fd)
