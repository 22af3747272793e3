# SPDX-License-Identifier: GPL-2.0
"""Chooses the frames of the oracle: a static placement by frame, from the stalls of all-slow.

The timing model counts for each frame of the guest's memory how long cores stalled for it in an
all-slow run, from the beginning of the warm-up on: a frame that the region uses for new pages was
often used so before. The oracle is that run once more, with these frames timed as fast memory:

- frames of fast memory that were in use when the workload began, because they are there under
  every policy;
- of all others, those with the longest stalls, as many as fast memory had free frames then.

On a kernel that does not describe its pages, the guest lists the frames that are free.

Limits:
- The second run takes another time, so that its kernel may use frames for other pages. Where the
  kernel frees many pages, and uses their frames again, a policy can be faster: it is no bound then.
- With misses that overlap, stalls of frames do not add up: the choice is good, not the best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

FRAME = np.dtype([("stall_ns", "<f8"), ("misses", "<u4"), ("flags", "<u4")])
"""An entry of the per-frame file."""

IN_USE_AT_START = 1
FAST_NODE = 2
"""Bits of `flags`."""


@dataclass(frozen=True)
class Placement:
    """Frames that are timed as fast memory, a byte for each frame, 1 if it is; and their numbers.

    `held_frames` were in use in fast memory when the workload began, `chosen_frames` are placed
    there, and `touched_frames` had a miss.
    """

    frames: bytes
    held_frames: int
    chosen_frames: int
    touched_frames: int

    def counts(self) -> dict[str, int]:
        """Return the numbers of frames, for a result."""
        return {
            "held_frames": self.held_frames,
            "chosen_frames": self.chosen_frames,
            "touched_frames": self.touched_frames,
        }


def with_free(frames: bytes, listing: str) -> tuple[bytes, int]:
    """Return the per-frame file with the free frames of `listing`, and how many are fast.

    For kernels from which the timing model cannot read which frames are free. `listing` is the
    output of machine/guest/kloc-free.c when the workload began.
    """
    table = np.frombuffer(frames, dtype=FRAME).copy()
    table["flags"] |= IN_USE_AT_START
    for first, count in _ranges(listing):
        table["flags"][first : first + count] &= ~np.uint32(IN_USE_AT_START)
    free_fast = np.count_nonzero(table["flags"] == FAST_NODE)
    return table.tobytes(), int(free_fast)


def _ranges(listing: str) -> Iterator[tuple[int, int]]:
    for line in listing.splitlines():
        first, count = line.split()
        yield int(first), int(count)


def place(frames: bytes, free_fast: int) -> Placement:
    """Return the frames with the longest stalls, as many as are free in fast memory.

    `frames` is the timing model's per-frame file. `free_fast` is the number of frames of fast
    memory that were free when the workload began. Of frames with equal stalls the first ones win.
    """
    table = np.frombuffer(frames, dtype=FRAME)
    wanted = IN_USE_AT_START | FAST_NODE
    held = (table["flags"] & wanted) == wanted
    stalls = np.where(held, 0.0, table["stall_ns"])
    order = np.argsort(-stalls, kind="stable")[:free_fast]
    chosen = order[stalls[order] > 0]
    fast = held.copy()
    fast[chosen] = True
    return Placement(
        frames=fast.astype(np.uint8).tobytes(),
        held_frames=int(held.sum()),
        chosen_frames=len(chosen),
        touched_frames=int((table["misses"] > 0).sum()),
    )
