# SPDX-License-Identifier: GPL-2.0
"""The scale of a heat map's colors and shades: logarithmic, below the highest frequency.

Frequencies of memory differ by orders of magnitude: a page of a stack at 86 % would leave all that
is accessed in up to a fifth of the samples to one shade of a linear scale.
"""

from __future__ import annotations

RANGE = 27
"""The highest frequency is so many times that up to which the first shade is."""

WORDS = "logarithmic"
"""What a legend calls the scale."""

ROUNDING = 1e-9


def limits(top: float, count: int) -> list[float]:
    """Return up to which frequency each of `count` shades is; the last limit is `top`."""
    step = RANGE ** (1 / (count - 1))
    return [top / step**number for number in reversed(range(count))]


def digits(value: float) -> str:
    """Return a percentage with up to two digits, three for 100."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def shade(value: float, top: float, count: int) -> int:
    """Return the number of a frequency's shade, 1 to `count`; 0 for no access."""
    if value <= 0:
        return 0
    found = (
        number
        for number, limit in enumerate(limits(top, count), 1)
        if value <= limit * (1 + ROUNDING)
    )
    return next(found, count)
