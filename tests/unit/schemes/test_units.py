# SPDX-License-Identifier: GPL-2.0
"""The values of schemes: what is parsed, what is printed, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from kloc.schemes import units
from kloc.schemes.units import MAX, Frequency


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4K", 4096),
        ("2M", 2 << 20),
        ("2MB", 2 << 20),
        ("2MiB", 2 << 20),
        ("1.5G", 3 << 29),
        ("4096", 4096),
        ("100B", 100),
        ("min", 0),
        ("max", MAX),
    ],
)
def test_sizes_have_the_units_of_the_paper(text: str, size: int) -> None:
    assert units.parse_size(text) == size
    assert units.parse_size(units.format_size(size)) == size


@pytest.mark.parametrize(
    ("text", "age", "printed"),
    [
        ("7s", 7_000_000, "7s"),
        ("2m", 120_000_000, "2m"),
        ("100ms", 100_000, "100ms"),
        ("17.3s", 17_300_000, "17.3s"),
        ("90s", 90_000_000, "90s"),
        ("5us", 5, "5us"),
        ("1h", 3_600_000_000, "1h"),
        ("0s", 0, "min"),
        ("max", MAX, "max"),
    ],
)
def test_ages_have_the_units_of_the_paper(text: str, age: int, printed: str) -> None:
    assert units.parse_age(text) == age
    assert units.format_age(age) == printed
    assert units.parse_age(printed) == age


@pytest.mark.parametrize(
    ("text", "frequency"),
    [
        ("5", Frequency(Fraction(5))),
        ("80%", Frequency(Fraction(80), percent=True)),
        ("0.5%", Frequency(Fraction(1, 2), percent=True)),
        ("0%", Frequency(Fraction(0), percent=True)),
        ("min", units.MIN_FREQUENCY),
        ("max", units.MAX_FREQUENCY),
    ],
)
def test_frequencies_are_samples_or_percent(text: str, frequency: Frequency) -> None:
    assert units.parse_frequency(text) == frequency
    assert units.format_frequency(frequency) == text


def test_percent_are_of_the_samples_in_an_aggregation_interval() -> None:
    assert Frequency(Fraction(80), percent=True).samples(20) == 16
    assert Frequency(Fraction(5)).samples(20) == 5


@pytest.mark.parametrize(
    ("parser", "text"),
    [
        (units.parse_size, "4X"),
        (units.parse_size, "-1"),
        (units.parse_size, "0.3"),
        (units.parse_size, "99999999999G"),
        (units.parse_age, "7"),
        (units.parse_age, "7 s"),
        (units.parse_time, "max"),
        (units.parse_frequency, "101%"),
        (units.parse_frequency, "1.5"),
        (units.parse_share, "50"),
        (units.parse_share, "101%"),
    ],
)
def test_other_values_are_refused_with_what_is_allowed(
    parser: Callable[[str], Any], text: str
) -> None:
    with pytest.raises(ValueError, match=r"such as|percentage"):
        parser(text)


def test_shares_are_permil() -> None:
    assert units.parse_share("12.5%") == 125
    assert units.format_share(125) == "12.5%"
