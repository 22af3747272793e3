# SPDX-License-Identifier: GPL-2.0
"""Computes the best static placement from the counts of each page frame in an all-slow run.

The timing model counts for each frame of the guest's memory how much stall time its accesses would
have saved in fast memory. The oracle's time is the run's time minus the savings of these frames:

- frames of fast memory that were in use when the workload began, because they are there under
  every policy;
- of all others, those with the largest savings, as many as fast memory had free frames then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FRAME = np.dtype([("saved_ns", "<f8"), ("misses", "<u4"), ("flags", "<u4")])
"""An entry of the per-frame file."""

IN_USE_AT_START = 1
FAST_NODE = 2
"""Bits of `flags`."""


@dataclass(frozen=True)
class Oracle:
    """The best placement: saved time in ns, and numbers of frames.

    `held_frames` were in use in fast memory when the workload began, `chosen_frames` are placed
    there, and `touched_frames` had a miss.
    """

    saved_ns: float
    held_frames: int
    chosen_frames: int
    touched_frames: int


def place(frames: bytes, free_fast: int) -> Oracle:
    """Return the best static placement.

    `frames` is the timing model's per-frame file. `free_fast` is the number of frames of fast
    memory that were free when the workload began.
    """
    table = np.frombuffer(frames, dtype=FRAME)
    wanted = IN_USE_AT_START | FAST_NODE
    held = (table["flags"] & wanted) == wanted
    others = np.sort(table["saved_ns"][~held])[::-1]
    chosen = others[:free_fast]
    chosen = chosen[chosen > 0]
    return Oracle(
        saved_ns=float(table["saved_ns"][held].sum() + chosen.sum()),
        held_frames=int(held.sum()),
        chosen_frames=len(chosen),
        touched_frames=int((table["misses"] > 0).sum()),
    )
