# SPDX-License-Identifier: GPL-2.0
"""Ratios, spreads and sums."""

import pytest

from kloc.base.stats import Spread, fraction, ratios, students_t, total


def test_spread_has_median_and_range() -> None:
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0, 3)
    assert Spread.of(iter([4.0])) == Spread(4.0, 4.0, 4.0, 1)
    assert Spread.of([]) is None


def test_ratios_are_of_seeds_that_both_have() -> None:
    assert ratios({2: 6.0, 1: 1.0, 3: 5.0}, {1: 2.0, 2: 3.0}) == [2.0, 0.5]
    assert ratios({1: 6.0, 2: 1.0}, {1: 0.0, 2: 2.0}) == [0.5]


def test_fraction_of_nothing_is_zero() -> None:
    assert fraction(1, 4) == 0.25
    assert fraction(1, 0) == 0.0


def test_total_sums_a_nested_tree() -> None:
    assert total({"a": {"b": 1, "c": None}, "d": 2.5}) == 3.5
    assert total({}) == total(None) == 0.0


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 10, 29, 100])
def test_students_t_is_that_of_scipy(degrees: int, confidence: float) -> None:
    from scipy.special import stdtrit

    expected = float(stdtrit(degrees, (1 + confidence) / 2))
    assert students_t(degrees, confidence) == pytest.approx(expected, rel=1e-9)
