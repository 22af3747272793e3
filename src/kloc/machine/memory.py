# SPDX-License-Identifier: GPL-2.0
"""The guest's memory: its physical layout, and the files that back it on the host."""

from __future__ import annotations

import mmap
import os
import struct

from kloc.machine.profile import Profile

PAGE_BYTES = 1 << 20
"""The size of the page that the guest's driver, the timing model and the launcher share."""

PAGE_INSTRUCTIONS, PAGE_TIME = 48, 56
"""Offsets in struct kloc_machine_page: instructions executed, and simulated time in ns."""

DMA_ZONE = 16 << 20
"""Bytes that node 0 has in addition to fast memory, and that the kernel may not use.

The DMA zone would be 8 % of fast memory. It is always free, so that kswapd would see free memory
where there is none; on a server it is negligible.
"""

TIERS = ("fast", "slow")


def memory_ranges(profile: Profile) -> list[tuple[int, int, int]]:
    """Return (tier, physical start, bytes) of each node, which is one range below 4 GiB."""
    split = DMA_ZONE + profile.fast.capacity
    return [(0, 0, split), (1, split, profile.slow.capacity)]


class SharedMemory:
    """Unnamed files that back the guest's memory. QEMU, the timing model and kloc share them."""

    def __init__(self, profile: Profile) -> None:
        """Create a file for each tier and for the shared page."""
        sizes = {TIERS[tier]: size for tier, _, size in memory_ranges(profile)}
        sizes["page"] = PAGE_BYTES
        descriptors = {name: os.memfd_create(f"kloc-{name}", 0) for name in sizes}
        for name, size in sizes.items():
            os.ftruncate(descriptors[name], size)
        self.fds = tuple(descriptors.values())
        self.files = {name: f"/proc/self/fd/{fd}" for name, fd in descriptors.items()}
        self._page = mmap.mmap(descriptors["page"], PAGE_BYTES)

    def read_u64(self, offset: int) -> int:
        """Return the unsigned 64-bit integer at `offset` of the shared page."""
        (value,) = struct.unpack_from("<Q", self._page, offset)
        return int(value)

    def close(self) -> None:
        """Return the memory to the host."""
        self._page.close()
        for fd in self.fds:
            os.close(fd)
