# SPDX-License-Identifier: GPL-2.0
"""Formats numbers and lists for reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kloc.base.stats import Spread


def count(value: float) -> str:
    """Return a count: "31,873"."""
    return f"{value:,.0f}"


def compact(value: float) -> str:
    """Return a number for an axis: "30k" or "0.25"."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def percent(share: float) -> str:
    """Return a share: "74 %"; one that rounds to zero has no sign."""
    return f"{round(100 * share)} %"


def percent_of(spread: Spread | None) -> str:
    """Return a median share, "" for None."""
    return percent(spread.median) if spread else ""


def factor(spread: Spread | None) -> str:
    """Return a median ratio: "1.98", "" for None."""
    return f"{spread.median:.2f}" if spread else ""


def seconds(value: float) -> str:
    """Return a duration in s or ms."""
    if value >= 1:
        return f"{value:.2f} s"
    return f"{1e3 * value:.0f} ms" if value >= 0.01 else f"{1e3 * value:.2f} ms"


def millis(value: float) -> str:
    """Return seconds as a number of ms, "" for zero."""
    return f"{1e3 * value:,.2f}" if value else ""


def nanoseconds(value: float | None) -> str:
    """Return ns in a unit from ns to s, "" for None."""
    if value is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} ns"


def spread(value: Spread, form: Callable[[float], str]) -> tuple[str, str]:
    """Return the median and the range; the range of a single value is ""."""
    if value.count == 1:
        return form(value.median), ""
    return form(value.median), f"{form(value.low)} to {form(value.high)}"


def value_range(values: Sequence[float]) -> str:
    """Return "3", or "3 to 5" if the values differ."""
    ends = [f"{value:g}" if value % 1 else f"{value:,.0f}" for value in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def listed(words: Sequence[str]) -> str:
    """Return "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
