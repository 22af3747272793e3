# SPDX-License-Identifier: GPL-2.0
"""What the kernel's memory does: pages by kind, who refers to them, how long they live.

The KLOCs paper's Figure 2, of any workload, for a small and a large input. The
timing model counts (machine/plugin/observer.h says what exactly); here the
counts are brought under the names that people know, and percentiles are made
of the histograms.

What is counted where: journal is what jbd2's slabs hold, socket what socket
buffers hold, their slabs (skbuff_*) and their pages; every other slab cache is
a kind of its own. The blocks that the journal writes lie in the block device's
page cache (blockdev) or are pages of files. Whoever is still to be told from a
struct page is other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kloc.measure.object_use import PERCENTILES, Use, Uses, merged, shares, spread, uses
from kloc.measure.record import Run
from kloc.measure.workload import Size

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = 1
LEAST_SHARE = 0.005
"""Slab caches with less than this of everything share one row of the table."""


def document(
    of: Mapping[str, Any], workload: str, runs: Mapping[str, Run], sizes: Mapping[str, Size]
) -> dict[str, Any]:
    """Return the whole JSON document; `of` is an empty result file's content, for its versions.

    `runs` has the observed run of each input. Shares are of all kinds' together.
    """
    first = next(iter(runs.values()))
    return {
        "schema": SCHEMA,
        "workload": workload,
        "policy": first["policy"],
        "seed": first["seed"],
        "variant": first["machine"]["variant"],
        **{key: of[key] for key in ("kernel", "versions", "machine")},
        "measured": {
            name: {
                "load": sizes[name].load,
                "measured": sizes[name].measured,
                **{key: run[key] for key in ("operations", "seconds", "instructions")},
                "pages_allocated": sum(use.allocated for use in uses(run["objects"]).values()),
                "references": sum(use.references for use in uses(run["objects"]).values()),
                "misses": sum(use.misses for use in uses(run["objects"]).values()),
            }
            for name, run in runs.items()
        },
        "inputs": {name: _kinds(uses(run["objects"])) for name, run in runs.items()},
    }


def _kinds(of: Uses) -> dict[str, Any]:
    return {
        kind: {
            "pages_allocated": use.allocated,
            "pages_before": use.before,
            "pages_freed": use.freed,
            "pages_alive_at_end": use.alive_at_end,
            "references": share,
            "misses": missed,
            "lifetime_ns": spread(use.lifetimes),
            "interval_ns": spread(use.intervals),
        }
        for (kind, use), share, missed in zip(
            of.items(),
            shares([use.references for use in of.values()]),
            shares([use.misses for use in of.values()]),
            strict=True,
        )
    }


def tables(title: str, of: Uses) -> list[Table]:
    """Return the tables of one input, most pages first; small slab caches share a row."""
    rows = merged(of, _row_names(of))
    lines = sorted(rows.items(), key=lambda row: -row[1].allocated)
    return [_pages_table(title, lines), _times_table(title, lines)]


def _pages_table(title: str, lines: Sequence[tuple[str, Use]]) -> Table:
    names = (
        "pages\nallocated",
        "% of\npages",
        "alive\nat end",
        "% of\nreferences",
        "% of LLC\nmisses",
    )
    made = _table(title, names)
    pages = shares([use.allocated for _, use in lines])
    references = shares([use.references for _, use in lines])
    misses = shares([use.misses for _, use in lines])
    for (name, use), *parts in zip(lines, pages, references, misses, strict=True):
        counted, referred, missed = (f"{100 * share:.1f}" for share in parts)
        made.add_row(name, f"{use.allocated:,}", counted, f"{use.alive_at_end:,}", referred, missed)
    return made


def _times_table(title: str, lines: Sequence[tuple[str, Use]]) -> Table:
    percentiles = [f"p{each}" for each in PERCENTILES]
    names = [
        f"{'' if number else what}\n{percentile}"
        for what in ("lifetime", "interval")
        for number, percentile in enumerate(percentiles)
    ]
    made = _table(f"{title}: times", names)
    for name, use in lines:
        times = (*spread(use.lifetimes).values(), *spread(use.intervals).values())
        made.add_row(name, *(duration(value) for value in times))
    return made


def _table(title: str, names: Iterable[str]) -> Table:
    from rich import box
    from rich.table import Table

    # Without lines between columns all of it fits 80 columns.
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("kind", no_wrap=True)
    for name in names:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def _row_names(of: Uses) -> dict[str, str]:
    totals = Use()
    for use in of.values():
        totals.add(use)
    small = [
        kind
        for kind, use in of.items()
        if kind.startswith("slab:")
        and use.allocated < LEAST_SHARE * totals.allocated
        and use.references < LEAST_SHARE * totals.references
        and use.misses < LEAST_SHARE * totals.misses
    ]
    return {kind: f"{len(small)} other slabs" if kind in small else kind for kind in of}


def duration(ns: float | None) -> str:
    """Return a duration as people write it; an empty text for None."""
    if ns is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g}{unit}"
    return f"{ns:.0f}ns"
