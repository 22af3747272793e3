# SPDX-License-Identifier: GPL-2.0
"""The best static placement of a small table of frames."""

import numpy as np

from kloc.measure import oracle

HELD = oracle.IN_USE_AT_START | oracle.FAST_NODE


def table(*frames: tuple[float, int, int]) -> bytes:
    return np.array(list(frames), dtype=oracle.FRAME).tobytes()


def test_frames_with_the_largest_savings_are_chosen() -> None:
    best = oracle.place(table((5, 1, 0), (50, 9, 0), (20, 3, oracle.FAST_NODE), (0, 0, 0)), 2)
    assert best == oracle.Oracle(70.0, held_frames=0, chosen_frames=2, touched_frames=3)


def test_frames_in_use_at_the_start_are_fast_in_addition() -> None:
    best = oracle.place(table((7, 1, HELD), (50, 9, 0), (20, 3, oracle.IN_USE_AT_START)), 1)
    assert best == oracle.Oracle(57.0, held_frames=1, chosen_frames=1, touched_frames=3)


def test_a_frame_without_savings_stays_in_slow_memory() -> None:
    assert oracle.place(table((-3, 2, 0)), 8).saved_ns == 0
