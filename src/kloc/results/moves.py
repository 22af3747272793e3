# SPDX-License-Identifier: GPL-2.0
"""Who moved the pages: a table of `kloc compare --details`, and lines below the main table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from kloc.base.stats import fraction
from kloc.measure.movers import CONTEXT, HINT_FAULT, LRU, OTHER, PAGE
from kloc.measure.record import Run
from kloc.results import by_policy, document

if TYPE_CHECKING:
    from rich.table import Table

TITLE = "who moved the pages, % of those in this direction; medians over seeds"

NAMES = {CONTEXT: "contexts", PAGE: "by page", HINT_FAULT: "hint faults", LRU: "LRU", OTHER: "rest"}
"""The movers, as columns name them, in the order of columns."""

DIRECTIONS = ("promoted", "demoted")
IMPOSSIBLE = {("promoted", LRU), ("demoted", HINT_FAULT)}
"""Cells of the table that are always empty."""


def shown(runs: Sequence[Run]) -> list[str]:
    """Return the movers that the table of these runs has: all, OTHER only if it moved a page."""
    others = any(OTHER in by for run in runs for by in run.get("moved_by", {}).values())
    return [mover for mover in NAMES if mover != OTHER or others]


def table(runs: Sequence[Run]) -> Table | None:
    """Return a table with two rows for each variant, workload and policy, one a direction.

    None if the runs were measured without the counts.
    """
    grouped = by_policy.grouped(run for run in runs if "moved_by" in run)
    if not grouped:
        return None
    several = by_policy.several_variants(grouped)
    movers = shown(runs)
    columns = [name.replace(" ", "\n") for name in ["pages", *(NAMES[mover] for mover in movers)]]
    table = by_policy.empty_table(TITLE, several, columns, "direction")
    for names, same in grouped.items():
        for direction in DIRECTIONS:
            first = by_policy.cells(names, several)
            table.add_row(*first, direction, *row(same, direction, movers))
    return table


def row(runs: Sequence[Run], direction: str, movers: Sequence[str]) -> list[str]:
    """Return the cells of a direction: the pages, and each mover's share in %.

    Figures are medians over the runs. Shares are of those that moved a page, empty if none did.
    """
    counts = [run["moved_by"].get(direction, {}) for run in runs if "moved_by" in run]
    shares = _shares(counts, movers)
    cells = [
        f"{100 * shares[mover]:.0f}" if shares and (direction, mover) not in IMPOSSIBLE else ""
        for mover in movers
    ]
    return [f"{median(sum(one.values()) for one in counts):,.0f}", *cells]


def lines(runs: Sequence[Run]) -> list[str]:
    """Return a line for each policy with contexts: what share of all moved pages they moved.

    For example `rocksdb/kloc: contexts moved 34 % of the 93,000 pages that were moved`. Figures
    are medians over seeds, of both directions together.
    """
    found = []
    for (variant, workload, policy), same in by_policy.grouped(runs).items():
        counts = [_both(run) for run in same if "moved_by" in run and has_contexts(run)]
        if not counts:
            continue
        where = f" ({variant})" if variant != document.UNCHANGED else ""
        pages = median(sum(one.values()) for one in counts)
        what = "no page was moved"
        if shares := _shares(counts, (CONTEXT,)):
            share = f"{100 * shares[CONTEXT]:.0f} %"
            what = f"contexts moved {share} of the {pages:,.0f} pages that were moved"
        found.append(f"{workload}/{policy}{where}: {what}")
    return found


def has_contexts(run: Run) -> bool:
    """Return whether the kernel's policy of memory tiers groups pages in contexts."""
    return bool(run.get("tiering", {}).get("end", {}).get("knodes"))


def _both(run: Run) -> dict[str, int]:
    """Return the pages of both directions by mover."""
    sums: dict[str, int] = {}
    for by_mover in run["moved_by"].values():
        for mover, count in by_mover.items():
            sums[mover] = sums.get(mover, 0) + count
    return sums


def _shares(counts: Sequence[Mapping[str, int]], movers: Sequence[str]) -> dict[str, float]:
    """Return the median of each mover's share, of those counts that are not 0; {} without any."""
    counted = [one for one in counts if sum(one.values())]
    if not counted:
        return {}
    return {
        mover: median(fraction(one.get(mover, 0), sum(one.values())) for one in counted)
        for mover in movers
    }
