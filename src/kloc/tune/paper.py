# SPDX-License-Identifier: GPL-2.0
"""The paper's optimizer (DAOS, section 3.5): random samples, then some near the best, a curve."""

from __future__ import annotations

import random

from kloc.tune import curve, samples
from kloc.tune.optimizer import Estimate, points


class Paper:
    """The optimizer of the paper, for values from `low` to `high`."""

    def __init__(self, low: float, high: float, number: int, seed: int) -> None:
        self._low, self._high = low, high
        self._rng = random.Random(seed)
        self._parts = samples.count_global(number)
        self._todo = samples.spread(low, high, self._parts, self._rng)
        self._values: list[float] = []
        self._scores: list[float] = []

    def ask(self) -> float:
        """Return a value of the whole range, or after 60 % of the samples one near the best."""
        if self._todo:
            return self._todo.pop()
        best = samples.best(self._values, self._scores)
        return samples.near(best, self._low, self._high, self._parts, self._rng)

    def tell(self, value: float, score: float) -> None:
        """Learn the score of a value."""
        self._values.append(value)
        self._scores.append(score)

    def estimate(self) -> Estimate:
        """Return the highest peak of the fitted curve."""
        fitted = curve.fit(self._values, self._scores, self._low, self._high)
        value = fitted.highest()
        drawn = tuple((one, fitted.score(one)) for one in points(fitted.low, fitted.high))
        return Estimate(value, fitted.score(value), drawn)


def make(low: float, high: float, number: int, seed: int) -> Paper:
    """Return the optimizer, as `kloc.tune.optimizer.make` describes it."""
    return Paper(low, high, number, seed)
