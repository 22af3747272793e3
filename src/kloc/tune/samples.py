# SPDX-License-Identifier: GPL-2.0
"""Chooses which values to measure (DAOS, section 3.5, "Sampling")."""

from __future__ import annotations

import random
from collections.abc import Sequence

GLOBAL_SHARE = 0.6
"""The share of samples that explore the whole range; the others are near the best so far."""


def count_global(samples: int) -> int:
    """Return how many of the samples explore the whole range: 60 %, and at least one."""
    return max(1, round(GLOBAL_SHARE * samples))


def spread(low: float, high: float, number: int, rng: random.Random) -> list[float]:
    """Return random values over the whole range, in random order.

    One is in each of `number` equal parts of the range, as those of the paper's Figure 5 are, so
    that no large part of the range has none.
    """
    part = (high - low) / number
    values = [low + part * (index + rng.random()) for index in range(number)]
    rng.shuffle(values)
    return values


def near(best: float, low: float, high: float, number: int, rng: random.Random) -> float:
    """Return a random value near `best` and inside the range.

    It is at most half of one of `number` equal parts of the range away, so that together with the
    first samples it tells where in the neighborhood the peak is.
    """
    radius = (high - low) / number / 2
    return rng.uniform(max(low, best - radius), min(high, best + radius))


def best(values: Sequence[float], scores: Sequence[float]) -> float:
    """Return the value with the highest score."""
    return max(zip(scores, values, strict=True))[1]
