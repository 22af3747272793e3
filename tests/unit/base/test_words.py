# SPDX-License-Identifier: GPL-2.0
"""Plurals, and what the messages of msgspec say."""

from __future__ import annotations

import pytest

from kloc.base import words


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (1000, "1,000 runs")]
)
def test_plural_is_used_for_all_numbers_but_one(number: int, expected: str) -> None:
    assert words.plural(number, "run") == expected


@pytest.mark.parametrize(
    ("message", "problem", "where"),
    [
        (
            "Expected `int`, got `str` - at `$.fast.capacity`",
            "Expected `int`, got `str`",
            "fast.capacity",
        ),
        ("Expected `object`, got `array`", "Expected `object`, got `array`", ""),
    ],
)
def test_a_validation_problem_has_its_place(message: str, problem: str, where: str) -> None:
    assert words.validation_problem(message) == (problem, where)


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        ("Expected `int | float`, got `str`", "a number"),
        ("Expected `str | array`, got `int`", "a string or a list"),
        ("Expected `object`, got `int`", "a table"),
        ("Object missing required field `name`", None),
    ],
)
def test_expected_types_are_named_as_users_know_them(problem: str, expected: str | None) -> None:
    assert words.expected_types(problem, {"object": "a table"}) == expected
