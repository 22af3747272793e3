# SPDX-License-Identifier: GPL-2.0
"""Tables of `kloc objects`: pages, references, misses and times of one input, by page kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kloc.base import stats
from kloc.measure.object_use import PERCENTILES, Use, Uses, merged, spread

if TYPE_CHECKING:
    from rich.table import Table

LEAST_SHARE = 0.005
"""Slab caches with a smaller share of pages, of references and of misses share one row."""


def tables(title: str, kinds: Uses) -> list[Table]:
    """Return the tables of pages and of times; the kind with the most pages is first."""
    rows = merged(kinds, _row_names(kinds))
    ordered = sorted(rows.items(), key=lambda row: -row[1].allocated)
    return [_pages_table(title, ordered), _times_table(title, ordered)]


def _pages_table(title: str, rows: Sequence[tuple[str, Use]]) -> Table:
    headings = (
        "pages\nallocated",
        "% of\npages",
        "alive\nat end",
        "% of\nreferences",
        "% of LLC\nmisses",
    )
    table = _empty_table(title, headings)
    total = _total(use for _, use in rows)
    for name, use in rows:
        pages, references, misses = (
            f"{100 * stats.fraction(getattr(use, key), getattr(total, key)):.1f}"
            for key in ("allocated", "references", "misses")
        )
        table.add_row(
            name, f"{use.allocated:,}", pages, f"{use.alive_at_end:,}", references, misses
        )
    return table


def _times_table(title: str, rows: Sequence[tuple[str, Use]]) -> Table:
    headings = [
        f"{'' if number else figure}\np{percentile}"
        for figure in ("lifetime", "interval")
        for number, percentile in enumerate(PERCENTILES)
    ]
    table = _empty_table(f"{title}: times", headings)
    for name, use in rows:
        times = (*spread(use.lifetimes).values(), *spread(use.intervals).values())
        table.add_row(name, *(duration(value) for value in times))
    return table


def _empty_table(title: str, headings: Iterable[str]) -> Table:
    from rich import box
    from rich.table import Table

    # Without lines between columns, the tables fit into 80 columns.
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("kind", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _total(uses: Iterable[Use]) -> Use:
    """Return the sum of several uses."""
    total = Use()
    for use in uses:
        total.add(use)
    return total


def _row_names(kinds: Uses) -> dict[str, str]:
    """Return the name of each kind's row; small slab caches have the same one."""
    totals = _total(kinds.values())
    small = {
        kind
        for kind, use in kinds.items()
        if kind.startswith("slab:")
        and use.allocated < LEAST_SHARE * totals.allocated
        and use.references < LEAST_SHARE * totals.references
        and use.misses < LEAST_SHARE * totals.misses
    }
    return {kind: f"{len(small)} other slab caches" if kind in small else kind for kind in kinds}


def duration(ns: float | None) -> str:
    """Return ns with a suitable unit and without a space, "" for None."""
    if ns is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g}{unit}"
    return f"{ns:.0f}ns"
