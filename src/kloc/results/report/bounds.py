# SPDX-License-Identifier: GPL-2.0
"""The section on policies that keep a bound on slowdown (Thermostat, Figures 5 to 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kloc.measure.record import Run
from kloc.results import bounds
from kloc.results.report.cases import Case
from kloc.results.report.figure import COLORS, Figure, Table, drawing
from kloc.results.report.kinds import Group
from kloc.results.report.plots import thinned
from kloc.results.report.structure import Block, Section

LEGEND = (
    Group("part of the workload's memory in slow memory", "blue"),
    Group("cost of slow memory", "orange"),
    Group("budget", "purple"),
)

INTRO = (
    "These policies keep as much memory in slow memory as a bound on slowdown allows. The first "
    "table has the mean part of the workload's memory in slow memory, what that saves by price of "
    "slow memory relative to fast memory, and whether the bound was held. Cost is what slow memory "
    "cost more than fast memory would have, and the counting of visits; slowdown is the loss of "
    "throughput relative to all-fast. Figures begin with the warm-up; the dashed line is the "
    "beginning of the measured region. Cost and budget are the policy's own."
)


def section(all_cases: Sequence[Case], shown: Mapping[str, Sequence[Run]]) -> Section | None:
    """Return the section; `shown` has the runs to draw by the case's name.

    None if no policy has a bound.
    """
    blocks = []
    for case in all_cases:
        kept = bounds.found(case.runs)
        if not kept:
            continue
        rows = [[one.policy, *one.cells()] for one in kept]
        details = [
            [one.policy, *one.part_cells(), *bounds.budget_cells(case.runs_under(one.policy))]
            for one in kept
        ]
        tables = [Table(_head(bounds.COLUMNS), rows), Table(_head(bounds.BUDGET_COLUMNS), details)]
        figures = [found for run in shown[case.name] if (found := figure(case, run))]
        title = case.name if len(all_cases) > 1 else ""
        blocks.append(Block(title, figures, tables))
    return Section("bound", "Bound on slowdown", INTRO, blocks, LEGEND) if blocks else None


def figure(case: Case, run: Run) -> Figure | None:
    """Return cold memory, cost and budget over warm-up and region; None without samples."""
    if "bound" not in run:
        return None
    import numpy as np

    series = run["bound"]["series"]
    millis, shares = _shares_over_time(run)
    points = [i for i in thinned(len(series["t_ns"])) if series["t_ns"][i] <= 1e9 * run["seconds"]]
    if len(points) < 2 or len(millis) < 2:
        return None
    times = [series["t_ns"][point] / 1e6 for point in points]
    budget, cost = ([series[key][i] / 1e6 for i in points] for key in ("budget_ns", "cost_ns"))
    title = f"{case.name} under {run['policy']}: cold memory, and its cost against the budget"
    with drawing(title, 290, rows=2, left=52) as sheet:
        upper, lower = sheet.axes
        upper.plot(millis, shares, color=COLORS[LEGEND[0].color], linewidth=1.6)
        upper.set_ylim(0, 1.1 * max(*shares, 1.0))
        upper.set_title("in slow memory, %", loc="left", fontsize=12, color=COLORS["ink"], pad=4)
        for values, group, style in ((cost, LEGEND[1], "-"), (budget, LEGEND[2], "--")):
            lower.plot(
                times,
                values,
                color=COLORS[group.color],
                linewidth=1.6,
                linestyle=style,
                drawstyle="steps-post",
            )
        lower.set_ylim(0, 1.1 * max(*budget, *cost, 1.0))
        lower.set_title("ms per second", loc="left", fontsize=12, color=COLORS["ink"], pad=4)
        for axes in sheet.axes:
            axes.axvline(0, color=COLORS["ink"], linewidth=1, linestyle="--")
            axes.grid(axis="y")
            axes.locator_params(axis="y", nbins=4)
        lower.set_xlim(min(times[0], millis[0]), max(times[-1], millis[-1]))
        lower.set_xlabel("ms from the beginning of the region")
    head = ["ms", "in slow memory, %", "cost, ms/s", "budget, ms/s", "cold, MiB", "came back, MiB"]
    rows = [
        [
            f"{time:.1f}",
            f"{share:.1f}",
            f"{cost[number]:.2f}",
            f"{budget[number]:.2f}",
            *(_mib(series, key, points[number]) for key in ("cold_bytes", "came_back_bytes")),
        ]
        for number, (time, share) in enumerate(
            zip(times, np.interp(times, millis, shares), strict=True)
        )
    ]
    return Figure(title, sheet.svg, Table(head, rows), f"{run['policy']}, seed {run['seed']}")


def _shares_over_time(run: Run) -> tuple[list[float], list[float]]:
    """Return times in ms from the beginning of the region, and the part in slow memory, in %."""
    warm = run.get("warm_up") or {}
    parts = [
        (-1e3 * warm.get("seconds", 0), warm.get("series") or {}),
        (0.0, run.get("series") or {}),
    ]
    millis: list[float] = []
    shares: list[float] = []
    for start, series in parts:
        for point in thinned(len(series.get("t_ns") or [])):
            pages = {
                tier: {kind: counts[point] for kind, counts in (series.get(key) or {}).items()}
                for tier, key in (("fast", "pages_fast"), ("slow", "pages_slow"))
            }
            share = bounds.slow_share({"pages": pages})
            if share is not None:
                millis.append(start + series["t_ns"][point] / 1e6)
                shares.append(100 * share)
    return millis, shares


def _mib(series: Mapping[str, Any], key: str, point: int) -> str:
    """Return a value of a series in MiB; "" if the series is missing."""
    return f"{series[key][point] / (1 << 20):.0f}" if key in series else ""


def _head(columns: Sequence[str]) -> list[str]:
    """Return the columns of a table of the terminal as those of a report."""
    return ["policy", *(name.replace("-\n", "").replace("\n", " ").strip() for name in columns)]
