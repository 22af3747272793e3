# SPDX-License-Identifier: GPL-2.0
"""What the tuner asks of an optimizer, and the optimizers by name."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol

from kloc.base.errors import unknown

PAPER, GAUSSIAN = "paper", "gaussian"

DEFAULT = GAUSSIAN
"""The one with the smaller regret (tools/compare_tuners.py; docs/tuning.md has its result)."""

OPTIMIZERS = {PAPER: "kloc.tune.paper", GAUSSIAN: "kloc.tune.gaussian"}
"""The module of each optimizer; it has a function `make` with the arguments of the one here."""

CURVE_POINTS = 61
"""How many points of the estimated curve are kept."""


@dataclass(frozen=True)
class Estimate:
    """The best value with its estimated score; `curve` has pairs of value and estimated score."""

    value: float
    score: float
    curve: tuple[tuple[float, float], ...]


class Optimizer(Protocol):
    """Chooses values to measure, and estimates the best one from their scores."""

    def ask(self) -> float:
        """Return the next value to measure."""

    def tell(self, value: float, score: float) -> None:
        """Learn the score of a value."""

    def estimate(self) -> Estimate:
        """Return the best value, after three or more scores."""


def make(name: str, low: float, high: float, samples: int, seed: int) -> Optimizer:
    """Return the optimizer called `name` for values from `low` to `high`.

    It is going to be asked `samples` times. The same seed chooses the same values for the same
    scores. Raises UsageError if there is no such optimizer.
    """
    if name not in OPTIMIZERS:
        raise unknown("optimizer", name, OPTIMIZERS)
    made: Optimizer = importlib.import_module(OPTIMIZERS[name]).make(low, high, samples, seed)
    return made


def points(low: float, high: float) -> list[float]:
    """Return the values at which a curve from `low` to `high` is kept."""
    step = (high - low) / (CURVE_POINTS - 1)
    return [low + step * index for index in range(CURVE_POINTS)]
