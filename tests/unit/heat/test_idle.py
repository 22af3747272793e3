# SPDX-License-Identifier: GPL-2.0
"""When addresses were accessed last, from DAMON's regions."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kloc.heat.idle import ATTRIBUTES, LastAccess
from kloc.schemes.sysfs import Attributes


def after(*intervals: list[tuple[int, int, int]]) -> LastAccess:
    """Return the last accesses after intervals of a second each, the first from 0 to 1."""
    last = LastAccess()
    for number, regions in enumerate(intervals):
        last.add(regions, number, number + 1)
    return last


def test_an_access_counts_for_all_of_a_region() -> None:
    last = after([(0, 100, 0)], [(0, 40, 1), (40, 100, 0)], [(0, 20, 0), (20, 100, 0)])
    assert last.segments == [(0, 40, 2), (40, 100, 0)]


def test_new_memory_is_idle_from_its_first_interval_on() -> None:
    last = after([(100, 200, 0)], [(50, 250, 0)])
    assert last.segments == [(50, 100, 1), (100, 200, 0), (200, 250, 1)]


def test_memory_that_is_unmapped_is_forgotten() -> None:
    last = after([(0, 100, 0)], [(0, 50, 0)], [(0, 100, 0)])
    assert last.segments == [(0, 50, 0), (50, 100, 2)]


def test_parts_of_a_range_have_their_own_times() -> None:
    last = after([(10, 20, 0), (20, 30, 3), (40, 50, 0)])
    assert list(last.between(0, 45)) == [
        (0, 10, None),
        (10, 20, 0),
        (20, 30, 1),
        (30, 40, None),
        (40, 45, 0),
    ]
    assert list(last.between(22, 25)) == [(22, 25, 1)]
    assert list(last.between(60, 70)) == [(60, 70, None)]


@pytest.mark.parametrize("seed", range(5))
def test_regions_that_change_all_the_time_give_what_each_address_gives_alone(seed: int) -> None:
    draw = random.Random(seed)
    size, expected, last = 60, [0.0] * 60, LastAccess()
    for number in range(40):
        ends = [0, *sorted(draw.sample(range(1, size), 9)), size]
        regions = [(low, high, draw.choice((0, 0, 2))) for low, high in pairwise(ends)]
        last.add(regions, number, number + 1)
        for low, high, accesses in regions:
            if accesses:
                expected[low:high] = [number + 1.0] * (high - low)
    found = [time for low, high, time in last.between(0, size) for _ in range(low, high)]
    assert found == expected
    # Neighbours with the same time are one segment.
    assert all(one[2] != other[2] for one, other in pairwise(last.segments))


def test_no_access_is_lost_when_damon_merges_regions() -> None:
    # DAMON merges regions whose accesses differ by a tenth of the most that are possible.
    assert ATTRIBUTES.samples // 10 == 0
    assert Attributes().samples // 10 > 0
