# SPDX-License-Identifier: GPL-2.0
"""The values of schemes as text: sizes, access frequencies, ages and shares (DAOS, Listing 1).

Each parser raises ValueError, whose text says what is allowed. Each `format_` function returns text
from which its parser gets the same value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

MAX = (1 << 64) - 1
"""The value of `max`: no upper limit. `min` is 0."""

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
AGES = {"us": 1, "ms": 1000, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}

A_SIZE = "a size such as 4K, 2M, 2MB or 1G, min or max"
A_FREQUENCY = "a number of samples such as 5, a percentage such as 80%, min or max"
AN_AGE = "an age such as 100ms, 7s, 2m or 1h, min or max"
A_TIME = "a time such as 10ms or 1s"
A_SHARE = "a percentage from 0% to 100%"

_NUMBER = r"(\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class Frequency:
    """How often a region is accessed.

    `value` is a number of samples in which an access was seen in one aggregation interval; with
    `percent`, it is a percentage of the samples that are taken in one.
    """

    value: Fraction
    percent: bool = False

    def samples(self, most: int) -> Fraction:
        """Return the number of samples, of `most` in an aggregation interval."""
        return self.value * most / 100 if self.percent else self.value


MIN_FREQUENCY, MAX_FREQUENCY = Frequency(Fraction(0)), Frequency(Fraction(MAX))


def parse_size(text: str) -> int:
    """Return a size in bytes."""
    return _parse_scaled(text, rf"{_NUMBER}([KMGT]?)(?:i?B)?", SIZES, A_SIZE)


def parse_age(text: str) -> int:
    """Return an age in microseconds."""
    return _parse_scaled(text, rf"{_NUMBER}(us|ms|[smhd])", AGES, AN_AGE)


def parse_time(text: str) -> int:
    """Return a time in microseconds; it is not `max`."""
    try:
        value = parse_age(text)
    except ValueError:
        raise ValueError(A_TIME) from None
    if value == MAX:
        raise ValueError(A_TIME)
    return value


def parse_frequency(text: str) -> Frequency:
    """Return an access frequency."""
    if text in ("min", "max"):
        return MIN_FREQUENCY if text == "min" else MAX_FREQUENCY
    match = re.fullmatch(rf"{_NUMBER}(%?)", text)
    if match is None:
        raise ValueError(A_FREQUENCY)
    value, percent = Fraction(match[1]), match[2] == "%"
    if (percent and value > 100) or (not percent and value.denominator != 1):
        raise ValueError(A_FREQUENCY)
    return Frequency(value, percent)


def parse_share(text: str) -> int:
    """Return a share in permil."""
    match = re.fullmatch(rf"{_NUMBER}%", text)
    if match is None or Fraction(match[1]) > 100:
        raise ValueError(A_SHARE)
    return round(Fraction(match[1]) * 10)


def format_size(size: int) -> str:
    """Return bytes in the largest unit that divides them: 2M."""
    return _format_scaled(size, SIZES)


def format_age(age: int) -> str:
    """Return microseconds in the largest unit that divides them, or with a digit: 7s, 17.3s."""
    if age > AGES["s"] and age != MAX and age % AGES["s"] and age % (AGES["s"] // 10) == 0:
        return f"{_decimal(Fraction(age, AGES['s']))}s"
    return _format_scaled(age, AGES)


def format_time(time: int) -> str:
    """Return microseconds in the largest unit that divides them; 0 is 0s."""
    return format_age(time) if time else "0s"


def format_frequency(frequency: Frequency) -> str:
    """Return an access frequency: 5, or 80%."""
    if frequency.value == 0 and not frequency.percent:
        return "min"
    if frequency == MAX_FREQUENCY:
        return "max"
    return f"{_decimal(frequency.value)}{'%' if frequency.percent else ''}"


def format_share(permil: int) -> str:
    """Return a share in permil as a percentage."""
    return f"{_decimal(Fraction(permil, 10))}%"


def _parse_scaled(text: str, pattern: str, units: Mapping[str, int], allowed: str) -> int:
    if text in ("min", "max"):
        return 0 if text == "min" else MAX
    match = re.fullmatch(pattern, text)
    if match is None:
        raise ValueError(allowed)
    value = Fraction(match[1]) * units[match[2]]
    if value.denominator != 1 or value >= MAX:
        raise ValueError(allowed)
    return int(value)


def _format_scaled(value: int, units: Mapping[str, int]) -> str:
    if value in (0, MAX):
        return "min" if value == 0 else "max"
    unit = max((name for name in units if value % units[name] == 0), key=units.__getitem__)
    return f"{value // units[unit]}{unit}"


def _decimal(value: Fraction) -> str:
    """Return a number that came from a decimal without rounding."""
    if value.denominator == 1:
        return str(value.numerator)
    digits = next((n for n in range(1, 40) if 10**n % value.denominator == 0), 6)
    return f"{float(value):.{digits}f}"
