# SPDX-License-Identifier: GPL-2.0
"""Numbers as a report writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kloc.results.report.cases import Spread


def count(value: float) -> str:
    """Return a count, such as 31,873."""
    return f"{value:,.0f}"


def compact(value: float) -> str:
    """Return a number for an axis, such as 30k or 0.25."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def percent(share: float) -> str:
    """Return a share, such as 74 %; one that rounds to nothing is 0 %, without a sign."""
    return f"{round(100 * share)} %"


def percent_of(spread: Spread | None) -> str:
    """Return a median share, or nothing."""
    return percent(spread.median) if spread else ""


def times(spread: Spread | None) -> str:
    """Return a median ratio, such as 1.98, or nothing."""
    return f"{spread.median:.2f}" if spread else ""


def seconds(value: float) -> str:
    """Return a duration with the unit that suits it."""
    if value >= 1:
        return f"{value:.2f} s"
    return f"{1e3 * value:.0f} ms" if value >= 0.01 else f"{1e3 * value:.2f} ms"


def millis(value: float) -> str:
    """Return seconds as ms without the unit; nothing for none."""
    return f"{1e3 * value:,.2f}" if value else ""


def nanoseconds(value: float | None) -> str:
    """Return ns with the unit that suits it; nothing for None."""
    if value is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} ns"


def size(value: float) -> str:
    """Return bytes with the unit that suits them."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"


def spread(value: Spread, form: Callable[[float], str]) -> tuple[str, str]:
    """Return the median, and the range where there are several values."""
    if value.count == 1:
        return form(value.median), ""
    return form(value.median), f"{form(value.low)} to {form(value.high)}"


def range_of(values: Sequence[float]) -> str:
    """Return "3", or "3 to 5" where values differ; "{}" for none, as it was."""
    if not values:
        return "{}"
    ends = [f"{value:g}" if value % 1 else f"{value:,.0f}" for value in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def listed(words: Sequence[str]) -> str:
    """Return "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
