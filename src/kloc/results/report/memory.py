# SPDX-License-Identifier: GPL-2.0
"""The section on memory: performance and memory efficiency (DAOS, Figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from kloc.measure.record import Run
from kloc.results import efficiency
from kloc.results.efficiency import Efficiency
from kloc.results.report.figure import COLORS, Figure, Table, drawing, short
from kloc.results.report.kinds import Group
from kloc.results.report.structure import Block, Section
from kloc.results.table import spread_text

ROW = 34
"""Height of a policy's row in pixels."""

LETTER = 7
"""Width of a letter of a row's name in pixels."""

HEIGHT = 0.34
"""Height of a bar, as a fraction of its row."""

MIB = 1 << 20

LEGEND = (Group("performance", "blue"), Group("memory efficiency", "orange"))

INTRO = (
    "Relative to {baseline}, and higher is better for both: performance is the throughput of the "
    "policy by that of {baseline}, memory efficiency the average memory of {baseline} by that of "
    "the policy. Memory is what page tables map, each page once, and what compressed memory takes "
    "for the pages that it holds. The line is at 1."
)


def section(document: Mapping[str, Any]) -> Section | None:
    """Return the section; None unless the memory of a policy and a baseline was sampled."""
    runs = document["runs"]
    wanted = (document.get("efficiency") or {}).get("baseline")
    found = efficiency.comparisons(runs, wanted)
    if not found:
        return None
    by_case: dict[str, list[Efficiency]] = {}
    for one in found:
        by_case.setdefault(one.name, []).append(one)
    blocks = [
        Block(
            name,
            figures=[figure(name, those)],
            tables=[_table(those, runs, str(efficiency.baseline(runs, wanted)))],
            side_by_side=True,
        )
        for name, those in by_case.items()
    ]
    intro = INTRO.format(baseline=efficiency.baseline(runs, wanted))
    return Section("memory", "Performance and memory", intro, blocks, LEGEND)


def figure(name: str, found: Sequence[Efficiency]) -> Figure:
    """Return the bars of both figures for each policy on a workload."""
    policies = [one.policy for one in found]
    title = f"Performance and memory efficiency on {name}"
    left = 16 + LETTER * max(len(short(policy)) for policy in policies)
    with drawing(title, 70 + ROW * len(found), left=left) as sheet:
        axes = sheet.axes[0]
        for row, one in enumerate(found):
            for place, value in enumerate(one.figures):
                axes.barh(
                    row + (place - 0.5) * HEIGHT,
                    value,
                    HEIGHT,
                    color=COLORS[LEGEND[place].color],
                )
        axes.axvline(1, color=COLORS["ink"], linewidth=1)
        axes.set_yticks(range(len(found)), [short(policy) for policy in policies])
        axes.set_ylim(len(found) - 0.45, -0.55)
        axes.set_xlim(0, 1.08 * max(1.0, *(max(one.figures) for one in found)))
        axes.grid(axis="x")
        axes.locator_params(axis="x", nbins=5)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("relative to the baseline")
    return Figure(title, sheet.svg)


def _table(found: Sequence[Efficiency], runs: Sequence[Run], baseline: str) -> Table:
    """Return the figures of each policy on a workload, with the memory that they are made of."""
    first = found[0]
    rows = [[baseline, "1.00", "1.00", *_memory(runs, first, baseline)]]
    rows += [
        [
            one.policy,
            spread_text(list(one.performance.values()), "{:.2f}"),
            spread_text(list(one.memory.values()), "{:.2f}"),
            *_memory(runs, one, one.policy),
        ]
        for one in found
    ]
    head = ["policy", "performance", "memory efficiency", "mapped, MiB", "in swap, MiB"]
    return Table(head, rows)


def _memory(runs: Sequence[Run], case: Efficiency, policy: str) -> list[str]:
    """Return the mean over seeds of mapped memory, and of what swapped pages take, in MiB."""
    sampled = [
        run["memory"]
        for run in runs
        if "memory" in run
        and (run["policy"], run["workload"]) == (policy, case.workload)
        and str(run["machine"].get("variant") or "") == case.variant
    ]
    return [f"{fmean(one[key] for one in sampled) / MIB:,.0f}" for key in ("resident", "swapped")]
