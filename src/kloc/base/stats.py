# SPDX-License-Identifier: GPL-2.0
"""Ratios, spreads over seeds and sums over nested counts: one definition for tables and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Spread:
    """The median of a figure over seeds, with its range."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread | None:
        """Return the spread of `values`, None if there are none."""
        found = list(values)
        return cls(median(found), min(found), max(found), len(found)) if found else None


def ratios(these: Mapping[int, float], those: Mapping[int, float]) -> list[float]:
    """Return these / those for each seed (the key) that both have, in the order of `these`.

    Seeds with which the latter is 0 are left out.
    """
    return [value / those[seed] for seed, value in these.items() if those.get(seed)]


def ratios_by_seed(these: Mapping[int, float], those: Mapping[int, float]) -> dict[int, float]:
    """Return these / those for each seed (the key) with which both are above 0."""
    return {
        seed: value / those[seed]
        for seed, value in these.items()
        if value > 0 and those.get(seed, 0) > 0
    }


def fraction(part: float, whole: float) -> float:
    """Return part / whole, and 0 if `whole` is 0."""
    return part / whole if whole else 0.0


def total(tree: Any) -> float:
    """Return the sum of all numbers in a tree of mappings; None counts as 0."""
    if isinstance(tree, Mapping):
        return sum(total(value) for value in tree.values())
    return float(tree or 0)


def students_t(degrees: int, confidence: float) -> float:
    """Return the t with P(-t < T < t) = confidence; T has Student's distribution of `degrees`.

    A server need not have SciPy. The probability is a finite sum (Abramowitz and Stegun, 26.7.3
    and 26.7.4), whose angle arctan(t / sqrt(degrees)) is found by bisection.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(100):
        middle = (low + high) / 2
        if _within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan(low)


def _within(angle: float, degrees: int) -> float:
    """Return P(-t < T < t) for t = sqrt(degrees) * tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    series = 0.0
    for power in range(odd, degrees - 1, 2):
        series += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * series) if odd else sine * series
