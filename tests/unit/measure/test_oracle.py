# SPDX-License-Identifier: GPL-2.0
"""The best static placement of a small table of frames, against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kloc.measure import oracle

HELD = oracle.IN_USE_AT_START | oracle.FAST_NODE


def table(*frames: tuple[float, int, int]) -> bytes:
    return np.array(list(frames), dtype=oracle.FRAME).tobytes()


def fast(placement: oracle.Placement) -> list[int]:
    """Return the numbers of the frames that are timed as fast."""
    return [number for number, value in enumerate(placement.frames) if value]


def test_frames_with_the_longest_stalls_are_chosen() -> None:
    best = oracle.place(table((5, 1, 0), (50, 9, 0), (20, 3, oracle.FAST_NODE), (0, 0, 0)), 2)
    assert fast(best) == [1, 2]
    assert best.counts() == {"held_frames": 0, "chosen_frames": 2, "touched_frames": 3}


def test_frames_in_use_at_the_start_are_fast_in_addition() -> None:
    best = oracle.place(table((7, 1, HELD), (50, 9, 0), (20, 3, oracle.IN_USE_AT_START)), 1)
    assert fast(best) == [0, 1]
    assert best.counts() == {"held_frames": 1, "chosen_frames": 1, "touched_frames": 3}


def test_a_frame_without_stalls_stays_in_slow_memory() -> None:
    assert fast(oracle.place(table((0, 2, 0), (1, 1, 0)), 8)) == [1]


def test_no_other_choice_saves_more() -> None:
    random = np.random.default_rng(7)
    stalls = random.integers(0, 50, size=9).astype(float)
    held = [0, 4]
    frames = [(stall, 1, HELD if i in held else 0) for i, stall in enumerate(stalls)]
    best = fast(oracle.place(table(*frames), 3))
    others = [number for number in range(9) if number not in held]
    most = max(sum(stalls[list(choice)]) for choice in combinations(others, 3))
    assert sum(stalls[[number for number in best if number not in held]]) == most


def test_free_frames_can_come_from_a_listing_of_the_guest() -> None:
    frames = table((9, 1, oracle.FAST_NODE), (5, 1, oracle.FAST_NODE), (7, 1, 0), (8, 1, 0))
    marked, free_fast = oracle.with_free(frames, "1 2\n")
    assert free_fast == 1
    best = oracle.place(marked, free_fast)
    assert fast(best) == [0, 3]
    assert best.counts() == {"held_frames": 1, "chosen_frames": 1, "touched_frames": 4}


def test_without_free_frames_all_are_held() -> None:
    marked, free_fast = oracle.with_free(table((9, 1, oracle.FAST_NODE), (5, 1, 0)), "")
    assert free_fast == 0
    assert fast(oracle.place(marked, free_fast)) == [0]
