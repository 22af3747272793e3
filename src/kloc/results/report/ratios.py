# SPDX-License-Identifier: GPL-2.0
"""The section on who is ahead: ratios of throughput to a baseline, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kloc.results import ahead
from kloc.results.ahead import Comparison, Verdict
from kloc.results.report import formats
from kloc.results.report.figure import COLORS, Figure, Table, drawing, short
from kloc.results.report.kinds import Group
from kloc.results.report.structure import Block, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 26
"""Height of a row in pixels."""

LETTER = 7
"""Width of a letter of a row's name in pixels."""

FAR = 1.5
"""An interval that is wider than its ratio by more than this factor is cut at the axis."""

GROUPS = {
    Verdict.AHEAD: Group("ahead", "green"),
    Verdict.BEHIND: Group("behind", "vermillion"),
    Verdict.TIE: Group("tie", "grey"),
    Verdict.UNKNOWN: Group("cannot tell", "yellow"),
}
"""The color of each verdict."""

INTRO = (
    "Throughput relative to {baseline} {same}: the geometric mean over {unit}s, and its 95 % "
    "interval. A policy is ahead or behind if the interval does not include 1, and a tie if it "
    "does. {one}"
)
SAME = {ahead.SEED: "with the same seed", ahead.ROUND: "in the same round"}
ONE = {
    ahead.SEED: "One seed is judged by the spread that the workload states.",
    ahead.ROUND: "One round cannot tell.",
}


def section(document: Mapping[str, Any]) -> Section | None:
    """Return the section; None if no policy can be compared with a baseline."""
    baseline = ahead.baseline(document)
    found = ahead.comparisons(document["runs"], baseline)
    if not found:
        return None
    by_policy: dict[str, list[Comparison]] = {}
    for one in found:
        by_policy.setdefault(one.policy, []).append(one)
    blocks = [
        Block(
            f"{policy} against {baseline}",
            figures=[figure(policy, those)],
            tables=[_table(those)],
            side_by_side=True,
        )
        for policy, those in by_policy.items()
    ]
    verdicts = {one.verdict for one in found}
    legend = [group for verdict, group in GROUPS.items() if verdict in verdicts]
    unit = found[0].unit
    intro = INTRO.format(baseline=baseline, unit=unit, same=SAME[unit], one=ONE[unit])
    return Section("ahead", "Who is ahead", intro, blocks, legend)


def figure(policy: str, found: Sequence[Comparison]) -> Figure:
    """Return the ratios of a policy on each workload, with their intervals."""
    names = [one.name for one in found]
    title = f"{policy} relative to {found[0].baseline} on {formats.listed(names)}"
    left = 16 + LETTER * max(len(short(name)) for name in names)
    with drawing(title, 70 + ROW * len(found), left=left) as sheet:
        axes = sheet.axes[0]
        axes.axvline(1, color=COLORS["ink"], linewidth=1, zorder=1)
        for row, one in enumerate(found):
            _draw(axes, row, one)
        axes.set_yticks(range(len(names)), [short(name) for name in names])
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.set_xlim(_limits(found))
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.locator_params(axis="x", nbins=5)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel(f"throughput relative to {short(found[0].baseline)}")
    return Figure(title, sheet.svg)


def _draw(axes: Axes, row: int, one: Comparison) -> None:
    color = COLORS[GROUPS[one.verdict].color]
    if one.interval:
        axes.plot(one.interval, [row, row], color=color, linewidth=2.5)
    axes.plot([one.ratio], [row], color=color, marker="o", markersize=8)


def _limits(found: Sequence[Comparison]) -> tuple[float, float]:
    """Return the ends of the axis: 1, all ratios, and their intervals unless these are wide."""
    low = min(1.0, *(max((one.interval or (one.ratio,))[0], one.ratio / FAR) for one in found))
    high = max(1.0, *(min((one.interval or (one.ratio,))[-1], one.ratio * FAR) for one in found))
    margin = max(0.02, 0.08 * (high - low))
    return low - margin, high + margin


def _table(found: Sequence[Comparison]) -> Table:
    head = ["workload", "ratio", "interval", f"{found[0].unit}s", "verdict"]
    rows = [
        [
            one.name,
            f"{one.ratio:.2f}",
            f"{one.interval[0]:.2f} to {one.interval[1]:.2f}" if one.interval else "",
            str(len(one.ratios)),
            one.verdict_text,
        ]
        for one in found
    ]
    return Table(head, rows)
