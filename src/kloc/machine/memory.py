# SPDX-License-Identifier: GPL-2.0
"""The guest's memory: its physical layout, and the files that back it on the host."""

from __future__ import annotations

import mmap
import os
import struct

from kloc.machine.profile import Profile

PROGRESS, FAST_FRAMES = "progress", "fast_frames"
"""Names of files, which are those of the timing model's keys (machine/plugin/config.h)."""

RECORD = struct.Struct("<QQ")
"""The progress file: instructions of all cores, and simulated time in ns."""

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

    def __init__(self, profile: Profile, fast_frames: bytes | None = None) -> None:
        """Create a file for each tier, one for progress, and one for `fast_frames` if given."""
        sizes = {TIERS[tier]: size for tier, _, size in memory_ranges(profile)}
        sizes[PROGRESS] = RECORD.size
        if fast_frames is not None:
            sizes[FAST_FRAMES] = len(fast_frames)
        descriptors = {name: os.memfd_create(f"kloc-{name}", 0) for name in sizes}
        for name, size in sizes.items():
            os.ftruncate(descriptors[name], size)
        if fast_frames is not None:
            os.pwrite(descriptors[FAST_FRAMES], fast_frames, 0)
        self.fds = tuple(descriptors.values())
        self.files = {name: f"/proc/self/fd/{fd}" for name, fd in descriptors.items()}
        self._progress = mmap.mmap(descriptors[PROGRESS], RECORD.size)

    @property
    def instructions(self) -> int:
        """Instructions that all cores have executed."""
        return int(RECORD.unpack_from(self._progress)[0])

    @property
    def time_ns(self) -> int:
        """Simulated time, in ns."""
        return int(RECORD.unpack_from(self._progress)[1])

    def close(self) -> None:
        """Return the memory to the host."""
        self._progress.close()
        for fd in self.fds:
            os.close(fd)
