# SPDX-License-Identifier: GPL-2.0
"""Ranges of addresses."""

from __future__ import annotations

import pytest

from kloc.base import ranges


@pytest.mark.parametrize(
    ("others", "left"),
    [
        ([], [(10, 20), (30, 40)]),
        ([(10, 20)], [(30, 40)]),
        ([(0, 12), (15, 35)], [(12, 15), (35, 40)]),
        ([(12, 13), (14, 15)], [(10, 12), (13, 14), (15, 20), (30, 40)]),
        ([(0, 50)], []),
        ([(20, 30)], [(10, 20), (30, 40)]),
    ],
)
def test_ranges_without_others(others: list[tuple[int, int]], left: list[tuple[int, int]]) -> None:
    assert ranges.without([(10, 20), (30, 40)], others) == left


def test_ranges_with_small_gaps_are_joined() -> None:
    assert ranges.joined([(0, 2), (2, 4), (3, 3), (6, 8)]) == [(0, 4), (6, 8)]
    assert ranges.joined([(0, 2), (4, 6), (9, 10)], gap=2) == [(0, 6), (9, 10)]
