# SPDX-License-Identifier: GPL-2.0
"""Parses the values of options and arguments, as argparse's `type`, and adds up those of lists.

Each function raises ArgumentTypeError if the text is no such value.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from fractions import Fraction
from typing import Any

INTERVAL_MIN, INTERVAL_MAX = 0.1, 86400.0

SEED_MAX = (1 << 32) - 1

SEEDS_MAX = 1000
"""The most seeds of a range."""


class AddUp(Action):
    """The `action` of options that take a list: `--policies tpp --policies kloc` is tpp,kloc.

    What is given twice counts once. The default counts only if the option is not given.
    """

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add the values of one option to those of the options before it."""
        before = getattr(namespace, self.dest)
        given = () if before is self.default else before
        setattr(namespace, self.dest, tuple(dict.fromkeys((*given, *values))))


def comma_list(text: str) -> tuple[str, ...]:
    """Return the names in a list such as `tpp, kloc`."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ArgumentTypeError("the list is empty")
    return names


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers from `low` to `high`; None means no upper limit."""
    limits = f"of {low} or more" if high is None else f"from {low} to {high}"

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < low or (high is not None and int(text) > high):
            raise ArgumentTypeError(f"'{text}' is not a whole number {limits}")
        return int(text)

    return parse


def seeds(text: str) -> tuple[int, ...]:
    """Return random seeds, in the order given: `3` is 1 to 3, `4-6` a range, `1,3,7` a list."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and parts[0].isdecimal():
        parts = [f"1-{parts[0]}"]
    chosen = dict.fromkeys(seed for part in parts for seed in _seed_range(text, part))
    return tuple(chosen)


def _seed_range(text: str, part: str) -> range:
    first, dash, last = (word.strip() for word in part.partition("-"))
    last = last if dash else first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) <= SEED_MAX):
        raise ArgumentTypeError(
            f"'{text}' names no seeds: write 3 (for 1 to 3), 4-6 or 1,3,7, up to {SEED_MAX}"
        )
    if int(last) - int(first) >= SEEDS_MAX:
        raise ArgumentTypeError(f"'{text}' is more than {SEEDS_MAX} seeds")
    return range(int(first), int(last) + 1)


def interval(text: str) -> float:
    """Return a number, without a unit, of seconds from INTERVAL_MIN to INTERVAL_MAX."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    # False for NaN, too.
    if not INTERVAL_MIN <= value <= INTERVAL_MAX:
        raise ArgumentTypeError(
            f"'{text}' is not a number of seconds from {INTERVAL_MIN:g} to {INTERVAL_MAX:g}"
        )
    return value


def factor(text: str) -> Fraction:
    """Return a positive number, exactly."""
    try:
        value = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 0:
        raise ArgumentTypeError(f"'{text}' is not a positive number such as 2, 1/2 or 0.5")
    return value


def fraction(text: str) -> Fraction:
    """Return a number above 0 and up to 1, exactly."""
    value = factor(text)
    if value > 1:
        raise ArgumentTypeError(f"'{text}' is above 1: slow memory cannot be faster than fast")
    return value


def part(text: str) -> tuple[int, int]:
    """Return N and M of "N/M": part N of M parts."""
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ArgumentTypeError(f"'{text}' is not N/M with N from 1 to M, such as 2/5")
    return int(number), int(count)


def factors(text: str) -> tuple[Fraction, ...]:
    """Return the factors in a comma-separated list."""
    return tuple(factor(part) for part in text.split(","))


def fractions(text: str) -> tuple[Fraction, ...]:
    """Return the fractions in a comma-separated list."""
    return tuple(fraction(part) for part in text.split(","))


def percentage(text: str) -> float:
    """Return one number above 0 and below 100."""
    found = percentages(text)
    if len(found) > 1:
        raise ArgumentTypeError(f"'{text}' has more than one percentage")
    return found[0]


def percentages(text: str) -> tuple[float, ...]:
    """Return the numbers above 0 and below 100 in a comma-separated list: `3,6,10`."""
    found = tuple(float(factor(part.strip().removesuffix("%"))) for part in text.split(","))
    if any(value >= 100 for value in found):
        raise ArgumentTypeError(f"'{text}': write percentages below 100, such as 3,6,10")
    return found
