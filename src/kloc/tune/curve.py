# SPDX-License-Identifier: GPL-2.0
"""Fits a polynomial to scores and finds its peaks (DAOS, section 3.5, "Estimation")."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.polynomial import Polynomial

SAMPLES_PER_DEGREE = 3
"""The degree is the number of samples divided by this, to avoid over-fitting."""

CONFIDENCE = 0.95

ROUNDING = 1e-9
"""Coefficients that are smaller than this, compared with the greatest one, are 0."""

SAMPLES_MIN = 3
"""With fewer samples, no curve can be fitted that tells noise from a trend."""


@dataclass(frozen=True)
class Curve:
    """The estimated relation between a value and its score, from `low` to `high`.

    `noise` is the standard deviation of a sample's score around the curve. `spread` is the
    covariance of the coefficients divided by the noise's variance.
    """

    polynomial: Polynomial
    low: float
    high: float
    samples: int
    noise: float
    spread: Any

    def score(self, value: float) -> float:
        """Return the estimated score of a value."""
        return float(self.polynomial(value))

    def peaks(self) -> list[float]:
        """Return the values with a local maximum, the ends of the range included.

        Where the gradient is 0, a peak has a score above those just beside it.
        """
        import numpy

        slope = self.polynomial.deriv()
        # A leading coefficient that is only a rounding error has a root far away, and lets the
        # others be wrong.
        slope = slope.trim(tol=ROUNDING * float(numpy.abs(slope.coef).max()))
        flat = [float(root.real) for root in slope.roots() if abs(root.imag) < 1e-9]
        inner = [value for value in flat if self.low < value < self.high]
        curvature = slope.deriv()
        return [
            *([self.low] if float(slope(self.low)) <= 0 else []),
            *sorted(value for value in inner if float(curvature(value)) < 0),
            *([self.high] if float(slope(self.high)) >= 0 else []),
        ]

    def highest(self) -> float:
        """Return the peak with the highest score."""
        return max(self.peaks() or [self.low, self.high], key=self.score)

    def margin(self, value: float) -> float:
        """Return by how much the score at `value` may exceed that of a single other run.

        This is half of a 95 % interval. Because `value` was chosen for its high score, the interval
        is one for all values of the curve at once (Working and Hotelling). The other run, such as
        the one without a scheme, has the noise of one sample.
        """
        from scipy.stats import f as f_distribution
        from scipy.stats import t as t_distribution

        terms = self.polynomial.degree() + 1
        freedom = self.samples - terms
        if freedom < 1:
            return math.inf
        row = _row(self.polynomial, value)
        of_curve = float(row @ self.spread @ row)
        band = terms * f_distribution.ppf(CONFIDENCE, terms, freedom) * of_curve
        single = t_distribution.ppf((1 + CONFIDENCE) / 2, freedom) ** 2
        return float(self.noise * math.sqrt(band + single))


def degree(samples: int) -> int:
    """Return the degree of the polynomial for a number of samples, at least 1."""
    return max(1, samples // SAMPLES_PER_DEGREE)


def fit(values: Sequence[float], scores: Sequence[float], low: float, high: float) -> Curve:
    """Return the polynomial of least squares; it needs SAMPLES_MIN samples with different values.

    Values are scaled to -1..1 for the fit: powers of seconds or bytes would lose all precision.
    The curve ends at the outermost samples, because a polynomial says nothing beyond them.
    """
    import numpy
    from numpy.polynomial import Polynomial

    distinct = len(set(values))
    terms = min(degree(len(values)), distinct - 1) + 1
    polynomial = Polynomial.fit(values, scores, terms - 1, domain=[low, high])
    rows = numpy.array([_row(polynomial, value) for value in values])
    residuals = numpy.asarray(scores) - polynomial(numpy.asarray(values))
    freedom = max(1, len(values) - terms)
    return Curve(
        polynomial,
        min(values),
        max(values),
        len(values),
        math.sqrt(float(residuals @ residuals) / freedom),
        numpy.linalg.pinv(rows.T @ rows),
    )


def _row(polynomial: Polynomial, value: float) -> Any:
    """Return the powers of the scaled value, which the coefficients multiply."""
    import numpy

    offset, scale = polynomial.mapparms()
    return (offset + scale * value) ** numpy.arange(polynomial.degree() + 1)
