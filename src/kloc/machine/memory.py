# SPDX-License-Identifier: GPL-2.0
"""The guest's memory: its physical layout, and the files that back it on the host."""

from __future__ import annotations

import mmap
import os
import struct
from typing import NamedTuple

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


class Range(NamedTuple):
    """The memory of a node: its tier, where it starts, its bytes, and where in the tier's file."""

    tier: int
    start: int
    size: int
    offset: int


def memory_ranges(profile: Profile) -> list[Range]:
    """Return the range of each node, fast ones first. All are below 4 GiB, without gaps."""
    ranges: list[Range] = []
    start = 0
    for tier, capacity in enumerate((profile.fast.capacity, profile.slow.capacity)):
        offset = 0
        for _ in range(profile.sockets):
            size = capacity // profile.sockets + (0 if ranges else DMA_ZONE)
            ranges.append(Range(tier, start, size, offset))
            start, offset = start + size, offset + size
    return ranges


def file_sizes(profile: Profile) -> dict[str, int]:
    """Return the bytes of each tier's memory, by its name in TIERS."""
    sizes = dict.fromkeys(TIERS, 0)
    for node in memory_ranges(profile):
        sizes[TIERS[node.tier]] += node.size
    return sizes


class SharedMemory:
    """Unnamed files that back the guest's memory. QEMU, the timing model and kloc share them."""

    def __init__(self, profile: Profile, fast_frames: bytes | None = None) -> None:
        """Create a file for each tier, one for progress, and one for `fast_frames` if given."""
        sizes = file_sizes(profile)
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
