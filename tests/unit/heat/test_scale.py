# SPDX-License-Identifier: GPL-2.0
"""The logarithmic scale of heat maps."""

from __future__ import annotations

import pytest

from kloc.heat import scale


def test_limits_differ_by_the_same_factor() -> None:
    assert scale.limits(0.54, 4) == pytest.approx([0.02, 0.06, 0.18, 0.54])
    assert scale.limits(1.0, 7)[::2] == pytest.approx([1 / 27, 1 / 9, 1 / 3, 1])


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), (0.0001, 1), (0.02, 1), (0.021, 2), (0.06, 2), (0.18, 3), (0.19, 4), (0.54, 4)],
)
def test_a_frequency_has_the_shade_up_to_whose_limit_it_is(value: float, number: int) -> None:
    assert scale.shade(value, 0.54, 4) == number


def test_a_hot_page_leaves_shades_to_the_others() -> None:
    """With a stack's page at 86 %, a linear scale had one shade for all up to 21 %."""
    assert len({scale.shade(value, 0.86, 4) for value in (0.01, 0.05, 0.2, 0.86)}) == 4
