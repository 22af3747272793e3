# SPDX-License-Identifier: GPL-2.0
"""Curves through noisy scores, their peaks, and how sure these are."""

from __future__ import annotations

import math
import random

import pytest

from kloc.tune import curve
from kloc.tune.patterns import PATTERNS, Pattern

MINUTE = 60e6
"""The range of ages in microseconds: its powers need scaling."""


@pytest.mark.parametrize(("samples", "degree"), [(3, 1), (5, 1), (6, 2), (10, 3), (20, 6)])
def test_the_degree_is_a_third_of_the_samples(samples: int, degree: int) -> None:
    assert curve.degree(samples) == degree


def test_a_parabola_in_microseconds_is_found_exactly() -> None:
    values = [MINUTE * part / 9 for part in range(10)]
    scores = [-(((value - 16e6) / 30e6) ** 2) for value in values]
    fitted = curve.fit(values, scores, 0, MINUTE)
    assert fitted.highest() == pytest.approx(16e6, rel=1e-6)
    assert fitted.score(16e6) == pytest.approx(0, abs=1e-9)
    assert fitted.margin(16e6) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("sign", "peak"), [(1, 50.0), (-1, 0.0)])
def test_the_ends_of_the_range_can_be_peaks(sign: int, peak: float) -> None:
    values = [float(value) for value in range(0, 60, 10)]
    fitted = curve.fit(values, [sign * value for value in values], 0, 60)
    assert fitted.highest() == peak


def test_nothing_is_said_of_values_beyond_the_samples() -> None:
    fitted = curve.fit([20.0, 25.0, 40.0], [0.0, 1.0, 2.0], 0, 60)
    assert (fitted.low, fitted.high) == (20, 40)
    assert fitted.highest() == 40


def test_equal_values_lower_the_degree() -> None:
    fitted = curve.fit([5.0, 5.0, 5.0, 5.0, 9.0, 9.0], [1.0, 1.2, 0.8, 1.0, 2.0, 2.2], 0, 10)
    assert fitted.polynomial.degree() == 1
    assert curve.fit([5.0] * 3, [1.0, 2.0, 3.0], 0, 10).score(5.0) == pytest.approx(2)


def test_few_samples_leave_a_large_margin() -> None:
    exact = curve.fit([0.0, 1.0, 2.0], [0.0, 1.1, 1.9], 0, 2)
    assert exact.margin(2.0) > 1
    two = curve.fit([0.0, 1.0], [0.0, 1.0], 0, 2)
    assert two.margin(1.0) == math.inf


def regret(pattern: Pattern, samples: int, noise: float, seed: int) -> float:
    """Return by how much the found value is worse than the best."""
    rng = random.Random(seed)
    values = [(index + rng.random()) / samples for index in range(samples)]
    scores = [pattern(value) + rng.gauss(0, noise) for value in values]
    found = curve.fit(values, scores, 0, 1).highest()
    return max(pattern(index / 200) for index in range(201)) - pattern(found)


@pytest.mark.parametrize("name", PATTERNS)
def test_the_peak_of_each_pattern_is_found(name: str) -> None:
    without = regret(PATTERNS[name], samples=30, noise=0, seed=1)
    assert without < 0.02
    noisy = [regret(PATTERNS[name], samples=30, noise=0.03, seed=seed) for seed in range(10)]
    assert sum(noisy) / len(noisy) < 0.04


def test_a_peak_of_noise_is_within_its_margin() -> None:
    """A flat relation has a peak too; in 95 % of all cases it is within the margin."""
    rng, mistakes = random.Random(1), 0
    for _ in range(300):
        values = [(index + rng.random()) / 10 for index in range(10)]
        fitted = curve.fit(values, [rng.gauss(0, 0.05) for _ in values], 0, 1)
        best = fitted.highest()
        mistakes += fitted.score(best) > rng.gauss(0, 0.05) + fitted.margin(best)
    assert mistakes <= 15
