# SPDX-License-Identifier: GPL-2.0
"""Schemes with a threshold that is tuned."""

from __future__ import annotations

from fractions import Fraction

from kloc.schemes import scheme, text
from kloc.schemes.units import Frequency


def test_a_tuned_age_is_a_multiple_of_100_ms() -> None:
    (prcl,) = text.load("prcl")
    assert prcl.at(17_342_123.4).min_age == 17_300_000
    assert text.format_scheme(prcl.at(17_342_123.4)).startswith("4K max min min 17.3s{1s..1m}")


def test_a_range_of_small_ages_is_not_rounded_to_100_ms() -> None:
    (small,) = text.parse("min max min min 50ms{10ms..200ms} max stat", "f")
    assert small.at(33_333.3).min_age == 33_333


def test_tuned_sizes_are_pages_and_frequencies_keep_their_unit() -> None:
    (size,) = text.parse("4K{4K..2M} max min min min max stat", "f")
    assert size.at(5000.0).min_size == 4096
    (percent,) = text.parse("min max min 5%{0%..50%} min max stat", "f")
    assert percent.at(12.3).max_frequency == Frequency(Fraction(123, 10), percent=True)
    (samples,) = text.parse("min max min 5{0..10} min max stat", "f")
    assert samples.at(3.4).max_frequency == Frequency(Fraction(3))


def test_only_the_marked_scheme_of_a_file_changes() -> None:
    ethp = text.load("ethp")
    first, second = scheme.at(ethp, 20e6)
    assert first == ethp[0]
    assert second.min_age == 20_000_000
    assert scheme.tuned_scheme(ethp) is ethp[1]
    assert scheme.tuned_scheme(ethp[:1]) is None
