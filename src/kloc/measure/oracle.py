# SPDX-License-Identifier: GPL-2.0
"""The best static placement, computed from an all-slow run's counts of each page frame.

The timing model notes for every frame of the guest's memory how much less its
accesses would have cost in fast memory. The oracle's time is the run's time
less those savings: of the frames that the kernel held in fast memory before
the workload began (they are there under every policy), and of the others,
hottest first, as many as there were free frames in fast memory then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FRAME = np.dtype([("saved_ns", "<f8"), ("misses", "<u4"), ("flags", "<u4")])
IN_USE_AT_START = 1
FAST_NODE = 2


@dataclass(frozen=True)
class Oracle:
    """What the placement saves (ns), with how many frames of each sort, of how many touched."""

    saved_ns: float
    held_frames: int
    chosen_frames: int
    touched_frames: int


def place(frames: bytes, free_fast: int) -> Oracle:
    """Return what the best static placement saves.

    `frames` is the timing model's per-frame file, `free_fast` the frames that
    were free in fast memory when the workload began.
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
