# SPDX-License-Identifier: GPL-2.0
"""The table of `kloc compare --details`: what policies did, beyond their throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from kloc.base.stats import total
from kloc.measure.record import Run
from kloc.results import by_policy, settling

if TYPE_CHECKING:
    from rich.table import Table

WAITS = {"p50": 0.5, "p99": 0.99}
"""How long hint faults waited for promotions: the columns, and the share of faults that waited no
longer."""

TITLE = "details: warm-up, then the measured region; medians over seeds"


def details(runs: Sequence[Run]) -> Table:
    """Return a table with a row for each variant, workload and policy.

    Pages, hint faults and the waits for promotions are those of the measured region. A column for
    each of the workloads' own figures follows.
    """
    grouped = by_policy.grouped(runs)
    several = by_policy.several_variants(grouped)
    figures = figure_names(runs)
    columns = ["warm-up\nms", "to settle\nms", "promoted\npages", "demoted\npages", "hint\nfaults"]
    waits = WAITS if any(run.get("promotion_ns") for run in runs) else {}
    columns += [f"promotion\n{name}, ns" for name in waits]
    own = [name.replace(" ", "\n") for name in figures]
    table = by_policy.empty_table(TITLE, several, [*columns, *own])
    for names, same in grouped.items():
        table.add_row(
            *by_policy.cells(names, several),
            _warm_up(same),
            settling.text(same),
            *(_moved(same, direction) for direction in ("promoted", "demoted")),
            _median([run["hint_faults"] for run in same if "hint_faults" in run]),
            *(_wait(same, share) for share in waits.values()),
            *(figure(same, name) for name in figures),
        )
    return table


def figure_names(runs: Sequence[Run]) -> list[str]:
    """Return the names of the figures that only some workloads have, such as "lost operations"."""
    return list(dict.fromkeys(name for run in runs for name in run.get("figures", {})))


def figure(runs: Sequence[Run], name: str) -> str:
    """Return the median over seeds of a workload's own figure, empty if it does not have it."""
    return _median([run["figures"][name] for run in runs if name in run.get("figures", {})])


def _warm_up(runs: Sequence[Run]) -> str:
    durations = [run["warm_up"]["seconds"] for run in runs if run.get("warm_up")]
    return _median([1e3 * duration for duration in durations])


def _moved(runs: Sequence[Run], direction: str) -> str:
    moved = [run["migrated_pages"] for run in runs if "migrated_pages" in run]
    return _median([total(pages[direction]) for pages in moved])


def _wait(runs: Sequence[Run], share: float) -> str:
    """Return the median over seeds of a quantile of the waits for promotions."""
    return _median([wait(run["promotion_ns"], share) for run in runs if run.get("promotion_ns")])


def wait(histogram: Mapping[str, int], share: float) -> float:
    """Return a quantile of the waits for promotions, in ns: the lower bound of its bucket.

    `histogram` is "promotion_ns" of a record, not empty. `share` is above 0, and 1 at most.
    """
    left = share * sum(histogram.values())
    for least in sorted(histogram, key=int):
        left -= histogram[least]
        if left <= 0:
            return float(least)
    raise ValueError("no promotions")


def _median(values: Sequence[float]) -> str:
    return f"{median(values):,.0f}" if values else ""
