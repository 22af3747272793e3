# SPDX-License-Identifier: GPL-2.0
"""Which values are measured."""

from __future__ import annotations

import random

import pytest

from kloc.tune import samples


@pytest.mark.parametrize(("number", "parts"), [(3, 2), (5, 3), (10, 6), (20, 12)])
def test_60_percent_explore_the_whole_range(number: int, parts: int) -> None:
    assert samples.count_global(number) == parts


def test_each_part_of_the_range_has_a_sample() -> None:
    values = samples.spread(10.0, 70.0, 6, random.Random(1))
    assert sorted(int((value - 10) // 10) for value in values) == [0, 1, 2, 3, 4, 5]
    assert values != sorted(values)
    assert values == samples.spread(10.0, 70.0, 6, random.Random(1))
    assert values != samples.spread(10.0, 70.0, 6, random.Random(2))


@pytest.mark.parametrize("best", [0.0, 17.0, 60.0])
def test_later_samples_are_near_the_best_and_in_the_range(best: float) -> None:
    rng = random.Random(1)
    values = [samples.near(best, 0.0, 60.0, 6, rng) for _ in range(1000)]
    assert max(0.0, best - 5) <= min(values) <= max(values) <= min(60.0, best + 5)
    assert max(values) - min(values) > 4


def test_the_best_value_has_the_highest_score() -> None:
    assert samples.best([1.0, 2.0, 3.0], [0.1, 0.3, 0.2]) == 2.0
