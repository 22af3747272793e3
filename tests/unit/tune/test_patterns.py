# SPDX-License-Identifier: GPL-2.0
"""The patterns have the shapes that the paper describes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kloc.tune.patterns import FLAT, PATTERNS


def turns(name: str) -> str:
    """Return how the score goes: + for a rise, - for a fall, each longer than a wobble."""
    values = [PATTERNS[name](index / 200) for index in range(201)]
    steps = [after - before for before, after in pairwise(values)]
    signs = ["+" if step > 0 else "-" for step in steps if abs(step) > 3e-4]
    return "".join(
        sign for index, sign in enumerate(signs) if index == 0 or sign != signs[index - 1]
    )


@pytest.mark.parametrize(
    ("name", "shape", "better_at_the_end"),
    [
        ("1 rises", "+", True),
        ("2 rises, falls, better", "+-", True),
        ("3 rises, falls, worse", "+-", False),
        ("4 falls", "-", False),
        ("5 falls, rises, worse", "-+", False),
        ("6 falls, rises, better", "-+", True),
    ],
)
def test_patterns_rise_and_fall_as_named(name: str, shape: str, better_at_the_end: bool) -> None:
    assert turns(name) == shape
    assert PATTERNS[name](0.0) == 0
    assert (PATTERNS[name](1.0) > 0) == better_at_the_end


def test_a_scheme_without_an_effect_is_flat() -> None:
    assert {FLAT(0.0), FLAT(0.5), FLAT(1.0)} == {0.0}
