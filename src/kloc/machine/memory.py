# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

import mmap
import os
import struct

from kloc.machine.profile import Profile

PAGE_BYTES = 1 << 20
# The DMA zone would be 8 % of fast memory, always free, and make kswapd believe
# that there is room; on a server it is nothing. It is left out: node 0 has so
# much more memory, and the kernel may not use it.
DMA_ZONE = 16 << 20
TIERS = ("fast", "slow")
# Offsets in struct kloc_machine_page of what the launcher shows as progress.
PAGE_INSTRUCTIONS, PAGE_TIME = 48, 56


def memory_ranges(profile: Profile) -> list[tuple[int, int, int]]:
    """Return (tier, physical start, bytes) of each node: one piece each, under 4 GiB."""
    split = DMA_ZONE + profile.fast.capacity
    return [(0, 0, split), (1, split, profile.slow.capacity)]


class SharedMemory:
    """The files (without names) that back the guest's memory, shared by QEMU, the model and us."""

    def __init__(self, profile: Profile) -> None:
        sizes = {TIERS[tier]: size for tier, _, size in memory_ranges(profile)}
        sizes["page"] = PAGE_BYTES
        descriptors = {name: os.memfd_create(f"kloc-{name}", 0) for name in sizes}
        for name, size in sizes.items():
            os.ftruncate(descriptors[name], size)
        self.fds = tuple(descriptors.values())
        self.files = {name: f"/proc/self/fd/{fd}" for name, fd in descriptors.items()}
        self._page = mmap.mmap(descriptors["page"], PAGE_BYTES)

    def word(self, offset: int) -> int:
        """Return the 64-bit word at `offset` of the shared page."""
        (value,) = struct.unpack_from("<Q", self._page, offset)
        return int(value)

    def close(self) -> None:
        """Give the memory back to the host."""
        self._page.close()
        for fd in self.fds:
            os.close(fd)
