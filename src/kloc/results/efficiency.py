# SPDX-License-Identifier: GPL-2.0
"""Performance and memory efficiency relative to a baseline (DAOS, section 4, Figures 7 and 8).

Performance is the baseline's runtime over that of a policy, for the same operations: the quotient
of their throughputs. Memory efficiency is the baseline's average memory over that of a policy.
Higher is better for both. Only runs whose memory was sampled are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from kloc.base.stats import ratios_by_seed
from kloc.measure.record import Run
from kloc.results.table import spread_text

if TYPE_CHECKING:
    from rich.console import RenderableType

BASELINE = "baseline"
"""The policy that others are compared with, unless the user names another one."""

AVERAGE = "average"
"""The name of the columns with the mean of all workloads."""


@dataclass(frozen=True)
class Efficiency:
    """A policy relative to the baseline on one workload: both figures by seed."""

    workload: str
    variant: str
    policy: str
    performance: Mapping[int, float]
    memory: Mapping[int, float]

    @property
    def name(self) -> str:
        """The workload, with the variant if the machine has one."""
        return f"{self.workload}, {self.variant}" if self.variant else self.workload

    @property
    def figures(self) -> tuple[float, float]:
        """The medians of performance and memory efficiency over seeds."""
        return median(self.performance.values()), median(self.memory.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as result files have them (docs/results.md)."""
        performance, memory = self.figures
        return {
            "workload": self.workload,
            "variant": self.variant,
            "policy": self.policy,
            "performance": performance,
            "memory_efficiency": memory,
        }


def baseline(runs: Sequence[Run], wanted: str | None = None) -> str | None:
    """Return the policy that others are compared with: `wanted`, or BASELINE.

    None if its memory was not sampled.
    """
    sampled = {run["policy"] for run in runs if "memory" in run}
    return next((name for name in (wanted, BASELINE) if name in sampled), None)


def comparisons(runs: Sequence[Run], wanted: str | None = None) -> list[Efficiency]:
    """Return the comparisons of all policies with the baseline, policy by policy.

    Empty if only the baseline has samples of memory, or not even that.
    """
    against = baseline(runs, wanted)
    cases: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if "memory" in run:
            variant = str(run["machine"].get("variant") or "")
            cases.setdefault((run["policy"], run["workload"], variant), []).append(run)
    found = []
    for (policy, workload, variant), these in cases.items():
        those = cases.get((against or "", workload, variant), [])
        performance = ratios_by_seed(_throughputs(these), _throughputs(those))
        memory = ratios_by_seed(_memories(those), _memories(these))
        if policy != against and performance and memory:
            found.append(Efficiency(workload, variant, policy, performance, memory))
    order = list(dict.fromkeys(run["policy"] for run in runs))
    return sorted(found, key=lambda one: order.index(one.policy))


def included(document: Mapping[str, Any], wanted: str | None = None) -> dict[str, Any]:
    """Return the document with these comparisons under the key "efficiency", if there are any."""
    found = comparisons(document["runs"], wanted)
    rest = {key: value for key, value in document.items() if key != "efficiency"}
    if not found:
        return rest
    return {
        **rest,
        "efficiency": {
            "baseline": baseline(document["runs"], wanted),
            "comparisons": [one.as_dict() for one in found],
        },
    }


def tables(runs: Sequence[Run], wanted: str | None = None) -> list[RenderableType]:
    """Return a heading and a row for each policy, with both figures for each workload.

    Empty without comparisons. With several workloads, the last columns are their mean, as the
    paper has it.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = comparisons(runs, wanted)
    if not found:
        return []
    names = list(dict.fromkeys(one.name for one in found))
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.add_column("policy")
    for name in [*names, *([AVERAGE] if len(names) > 1 else [])]:
        drawn.add_column(f"{name}\nperf.", justify="right")
        drawn.add_column("mem.\neff.", justify="right")
    for policy in dict.fromkeys(one.policy for one in found):
        of_policy = {one.name: one for one in found if one.policy == policy}
        drawn.add_row(policy, *_cells(of_policy, names))
    heading = f"relative to {baseline(runs, wanted)}: performance and memory efficiency"
    return [Text(heading), drawn]


def _cells(of_policy: Mapping[str, Efficiency], names: Sequence[str]) -> list[str]:
    """Return the cells of a policy; the mean is empty unless it has all workloads."""
    cells = []
    for name in names:
        one = of_policy.get(name)
        for figures in (one.performance, one.memory) if one else ({}, {}):
            cells.append(spread_text(list(figures.values()), "{:.2f}"))
    if len(names) == 1:
        return cells
    if len(of_policy) < len(names):
        return [*cells, "", ""]
    columns = zip(*(one.figures for one in of_policy.values()), strict=True)
    return [*cells, *(f"{fmean(column):.2f}" for column in columns)]


def _throughputs(runs: Sequence[Run]) -> dict[int, float]:
    return {run["seed"]: run["throughput"] for run in runs}


def _memories(runs: Sequence[Run]) -> dict[int, float]:
    return {run["seed"]: run["memory"]["mean"] for run in runs}
