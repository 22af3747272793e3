# SPDX-License-Identifier: GPL-2.0
"""The six patterns of scores that the paper expects (DAOS, Figure 3), to compare tuners on.

As a scheme gets more aggressive, the performance falls along one S curve and the saved memory rises
along another one (for the last three patterns: the other way round). The score is the mean of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable

Pattern = Callable[[float], float]
"""The score for an aggressiveness from 0 (no scheme, whose score is 0) to 1."""


def _rise(middle: float, steepness: float = 18.0) -> Pattern:
    """Return an S curve from 0 at 0 to 1 at 1, with its inflection point at `middle`."""

    def raw(x: float) -> float:
        return 1 / (1 + math.exp(-steepness * (x - middle)))

    low, high = raw(0.0), raw(1.0)
    return lambda x: (raw(x) - low) / (high - low)


def _mean(gain: float, of_gain: Pattern, loss: float, of_loss: Pattern) -> Pattern:
    return lambda x: 0.5 * gain * of_gain(x) - 0.5 * loss * of_loss(x)


PATTERNS: dict[str, Pattern] = {
    "1 rises": _mean(0.6, _rise(0.5, 8), 0.15, _rise(0.55, 8)),
    "2 rises, falls, better": _mean(0.6, _rise(0.3), 0.4, _rise(0.65)),
    "3 rises, falls, worse": _mean(0.4, _rise(0.3), 0.7, _rise(0.65)),
    "4 falls": _mean(0.15, _rise(0.55, 8), 0.6, _rise(0.5, 8)),
    "5 falls, rises, worse": _mean(0.4, _rise(0.65), 0.6, _rise(0.3)),
    "6 falls, rises, better": _mean(0.7, _rise(0.65), 0.4, _rise(0.3)),
}

FLAT: Pattern = lambda x: 0.0  # noqa: E731
"""A scheme without an effect."""
