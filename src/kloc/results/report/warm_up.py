# SPDX-License-Identifier: GPL-2.0
"""The section on warm-ups: throughput and migrations over warm-up and region, time to settle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from kloc.base.words import plural
from kloc.measure.record import Run
from kloc.results import details, settling
from kloc.results.report import formats
from kloc.results.report.cases import Case
from kloc.results.report.figure import COLORS, Figure, Table, drawing
from kloc.results.report.structure import Block, Section

BINS = 60
"""The intervals of time in a figure, of warm-up and region together."""

INSTRUCTIONS, PROMOTED, DEMOTED = "instructions", "promoted", "demoted"
"""The keys of a time series that are drawn."""

INTRO = (
    "Before the measured region, each workload warmed up under the policy. The dashed line is the "
    "beginning of the region, dotted lines divide the slices of the warm-up. Instructions of all "
    "cores stand for throughput, which is not known at each time; those that move pages are "
    "included. A policy had settled from the slice on from which throughput and moved pages stay "
    "within 5 %, or less than 1 % of fast memory moves."
)


def section(all_cases: Sequence[Case], shown: Mapping[str, Sequence[Run]]) -> Section | None:
    """Return the section; `shown` has the runs to draw by the case's name. None if all are cold."""
    blocks = []
    for case in all_cases:
        rows = [row for policy in case.policies if (row := _row(case.runs_under(policy)))]
        if not rows:
            continue
        runs = shown[case.name]
        tops = _tops(runs)
        figures = [found for run in runs if (found := figure(case, run, tops))]
        names = details.figure_names(case.runs)
        head = ["policy", "warm-up", "to settle, ms", "moved by the slices, pages", *names]
        rows = [[*row, *_own(case, row[0], names)] for row in rows]
        title = case.name if len(all_cases) > 1 else ""
        blocks.append(Block(title, figures, [Table(head, rows)]))
    return Section("warm-up", "Warm-up", INTRO, blocks) if blocks else None


def _row(runs: Sequence[Run]) -> list[str] | None:
    """Return policy, warm-up, time to settle, and pages moved by the first run's slices."""
    warm = next((run for run in runs if run.get("warm_up")), None)
    if warm is None:
        return None
    slices = warm["warm_up"]["slices"]
    duration = formats.seconds(warm["warm_up"]["seconds"])
    return [
        warm["policy"],
        f"{duration}, {plural(len(slices), 'slice')}",
        settling.text(runs),
        ", ".join(formats.count(one["moved_pages"]) for one in slices),
    ]


def _own(case: Case, policy: str, names: Sequence[str]) -> list[str]:
    return [details.figure(case.runs_under(policy), name) for name in names]


def figure(case: Case, run: Run, tops: Mapping[str, float]) -> Figure | None:
    """Return throughput and migrations over warm-up and region; None without both time series.

    `tops` are the upper ends of the axes, by the key of the series.
    """
    edges, rates = over_time(run)
    if INSTRUCTIONS not in rates:
        return None
    title = f"{case.name} under {run['policy']}: throughput and migrations from the load on"
    with drawing(title, 290, rows=2, left=62) as sheet:
        upper, lower = sheet.axes
        upper.stairs(rates[INSTRUCTIONS], edges, color=COLORS["blue"], linewidth=1.4)
        upper.set_ylim(0, 1.1 * tops[INSTRUCTIONS])
        upper.set_ylabel("instructions/ns")
        for sign, key, color in ((1, PROMOTED, "green"), (-1, DEMOTED, "orange")):
            values = [sign * rate for rate in rates.get(key, [])]
            if values:
                lower.stairs(values, edges, fill=True, color=COLORS[color], linewidth=0)
        lower.axhline(0, color=COLORS["soft"], linewidth=0.8)
        lower.set_ylim(-1.1 * tops[DEMOTED], 1.1 * tops[PROMOTED])
        lower.yaxis.set_major_formatter(lambda value, _: formats.compact(abs(value)))
        lower.set_ylabel("pages/ms")
        for y, label in ((0.94, "promoted ↑"), (0.06, "demoted ↓")):
            lower.text(0.01, y, label, transform=lower.transAxes, va="center", color=COLORS["soft"])
        for axes in sheet.axes:
            axes.axvline(0, color=COLORS["ink"], linewidth=1, linestyle="--")
            for x in slice_ends(run)[:-1]:
                axes.axvline(x, color=COLORS["soft"], linewidth=0.8, linestyle=":")
            axes.grid(axis="y")
            axes.locator_params(axis="y", nbins=5)
        lower.set_xlim(edges[0], edges[-1])
        lower.set_xlabel("ms from the beginning of the region")
    heads = {
        INSTRUCTIONS: "instructions/ns",
        PROMOTED: "promoted, pages/ms",
        DEMOTED: "demoted, pages/ms",
    }
    drawn = [key for key in heads if key in rates]
    rows = [
        [f"{start:.1f} to {end:.1f}", *(f"{rates[key][number]:.2f}" for key in drawn)]
        for number, (start, end) in enumerate(pairwise(edges))
    ]
    table = Table(["ms", *(heads[key] for key in drawn)], rows)
    return Figure(title, sheet.svg, table, f"{run['policy']}, seed {run['seed']}")


def slice_ends(run: Run) -> list[float]:
    """Return when the slices of the warm-up ended, in ms from the beginning of the region."""
    ends, at = [], -1e3 * run["warm_up"]["seconds"]
    for one in run["warm_up"]["slices"]:
        at += one["time_ns"] / 1e6
        ends.append(at)
    return ends


def over_time(run: Run) -> tuple[list[float], dict[str, list[float]]]:
    """Return intervals of time and the rates in them, over warm-up and region.

    Intervals are between edges in ms from the beginning of the region, which is an edge. Rates are
    instructions per ns and pages per ms. Both are empty without both time series.
    """
    parts = [(run.get("warm_up") or {}).get("series") or {}, run.get("series") or {}]
    spans = [part["t_ns"][-1] / 1e6 if part.get("t_ns") else 0.0 for part in parts]
    if min(spans) <= 0:
        return [], {}
    bins = min(BINS - 1, max(1, round(BINS * spans[0] / sum(spans))))
    cut = [_edges(spans[0], bins), _edges(spans[1], BINS - bins)]
    rates = {
        key: [
            rate / (1e6 if key == INSTRUCTIONS else 1)
            for part, edges in zip(parts, cut, strict=True)
            for rate in _rates(part, key, edges)
        ]
        for key in (INSTRUCTIONS, PROMOTED, DEMOTED)
        if all(part.get(key) for part in parts)
    }
    return [edge - spans[0] for edge in cut[0][:-1]] + cut[1], rates


def _edges(span: float, bins: int) -> list[float]:
    return [span * i / bins for i in range(bins + 1)]


def _rates(series: Mapping[str, Any], key: str, edges: Sequence[float]) -> list[float]:
    """Return by how much a count grows per ms in each interval."""
    import numpy as np

    times = [0.0, *(time / 1e6 for time in series["t_ns"])]
    grown = np.diff(np.interp(edges, times, [0, *series[key]]))
    return [float(value) / (edges[1] - edges[0]) for value in grown]


def _tops(runs: Sequence[Run]) -> dict[str, float]:
    """Return the highest rate of all runs by the key of the series, for one scale for all."""
    tops = dict.fromkeys((INSTRUCTIONS, PROMOTED, DEMOTED), 0.0)
    for run in runs:
        for key, rates in over_time(run)[1].items():
            tops[key] = max(tops[key], *rates)
    # An axis without pages would be empty on one side.
    most = max(tops[PROMOTED], tops[DEMOTED]) or 1.0
    return {INSTRUCTIONS: tops[INSTRUCTIONS] or 1.0, PROMOTED: most, DEMOTED: most}
