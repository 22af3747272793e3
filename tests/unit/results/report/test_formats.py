# SPDX-License-Identifier: GPL-2.0
"""Numbers and lists as reports have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kloc.base.stats import Spread
from kloc.results.report import formats


@pytest.mark.parametrize(
    ("form", "value", "expected"),
    [
        (formats.count, 31873.4, "31,873"),
        (formats.compact, 30_000, "30k"),
        (formats.compact, -2_500_000, "-2.5M"),
        (formats.compact, 0.25, "0.25"),
        (formats.percent, 0.744, "74 %"),
        (formats.percent, -0.001, "0 %"),
        (formats.percent_of, None, ""),
        (formats.percent_of, Spread(0.5, 0.4, 0.6, 3), "50 %"),
        (formats.factor, None, ""),
        (formats.factor, Spread(1.977, 1.9, 2.0, 3), "1.98"),
        (formats.seconds, 1.5, "1.50 s"),
        (formats.seconds, 0.05, "50 ms"),
        (formats.seconds, 0.0015, "1.50 ms"),
        (formats.millis, 1.5, "1,500.00"),
        (formats.millis, 0, ""),
        (formats.nanoseconds, None, ""),
        (formats.nanoseconds, 999, "999 ns"),
        (formats.nanoseconds, 1500, "1.5 µs"),
        (formats.nanoseconds, 2e6, "2 ms"),
        (formats.nanoseconds, 3e9, "3 s"),
        (formats.value_range, [3], "3"),
        (formats.value_range, [1200, 9], "9 to 1,200"),
        (formats.value_range, [0.5, 0.25], "0.25 to 0.5"),
        (formats.listed, [], ""),
        (formats.listed, ["a"], "a"),
        (formats.listed, ["a", "b", "c"], "a, b and c"),
    ],
)
def test_values_are_formatted(form: Callable[[Any], str], value: Any, expected: str) -> None:
    assert form(value) == expected


def test_a_range_is_shown_for_several_values_only() -> None:
    assert formats.spread(Spread(2, 1, 3, 3), formats.count) == ("2", "1 to 3")
    assert formats.spread(Spread(2, 2, 2, 1), formats.count) == ("2", "")
