# SPDX-License-Identifier: GPL-2.0
"""Ratios, spreads over seeds and sums over nested counts: one definition for tables and reports."""

from __future__ import annotations

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
