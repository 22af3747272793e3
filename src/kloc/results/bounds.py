# SPDX-License-Identifier: GPL-2.0
"""Policies that keep a bound on slowdown: what is in slow memory, what that saves, what it costs.

A policy whose file has a `bound` was measured with its budgets (kloc.measure.bound_use). Its cost
has two parts, both as shares of the time in which the workload's cores were not idle:

- stalls: what slow memory cost more than fast memory would have. Misses would have cost on fast
  memory what those of the same page kind, in the same mode, cost there in the same run.
- counting: the visits that the policy counted, times what such a fault costs by its setting.

The bound was held if their sum is within it and, where all-fast was measured with the same seeds,
the loss of throughput, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from kloc.base.stats import fraction, ratios, total
from kloc.measure.record import Run
from kloc.results import by_policy, document
from kloc.results.core_time import has_modes, in_mode
from kloc.results.rows import UPPER
from kloc.results.size_document import PRICES, saved, saved_text

if TYPE_CHECKING:
    from rich.table import Table

KEY = "bounds"
"""The key of a document with what this module finds."""

TITLE = "slow memory under a bound on slowdown; medians over seeds"
BUDGET_TITLE = "budgets of a bound on slowdown, and moves; medians over seeds"

KINDS = ("anon", "shmem", "file")
"""The page kinds that are the workload's memory: that of processes, and page cache."""

COLUMNS = (
    "in slow\nmemory",
    f"saved at\n{', '.join(map(str, PRICES))}",
    "\ncost",
    "slow-\ndown",
    "\nbound",
    "\nheld",
)
BUDGET_COLUMNS = (
    "stalls\n%",
    "count-\ning %",
    "budget\nms/s",
    "cost\nms/s",
    "visits\n/s",
    "out\nMB/s",
    "back\nMB/s",
)

PAGE_BYTES = 4096


@dataclass(frozen=True)
class Kept:
    """A policy with a bound on one workload: medians over seeds, in percent.

    `slow` is the part of the workload's memory that was in slow memory, as the mean over the
    region; `slowdown` the loss of throughput relative to all-fast. None stands for what was not
    measured.
    """

    workload: str
    variant: str
    policy: str
    bound: float
    slow: float | None
    stalls: float | None
    counting: float
    slowdown: float | None

    @property
    def cost(self) -> float | None:
        """What slow memory and counting cost together."""
        return None if self.stalls is None else self.stalls + self.counting

    @property
    def held(self) -> bool | None:
        """Whether everything that was measured is within the bound; None if nothing was."""
        known = [value for value in (self.cost, self.slowdown) if value is not None]
        return all(value <= self.bound for value in known) if known else None

    @property
    def savings(self) -> dict[str, float] | None:
        """How much less the memory costs, by price of slow memory, as a fraction of all-fast."""
        return None if self.slow is None else saved(self.slow / 100)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as result files have them (docs/results.md)."""
        return {
            "workload": self.workload,
            "variant": self.variant,
            "policy": self.policy,
            "bound": self.bound,
            "slow": self.slow,
            "savings": self.savings,
            "stalls": self.stalls,
            "counting": self.counting,
            "cost": self.cost,
            "slowdown": self.slowdown,
            "held": self.held,
        }

    def cells(self) -> list[str]:
        """Return the cells of COLUMNS."""
        held = {None: "", True: "yes", False: "no"}[self.held]
        return [
            "" if self.slow is None else f"{self.slow:.0f} %",
            saved_text(self.savings) if self.savings else "",
            *(_percent(one) for one in (self.cost, self.slowdown)),
            f"{self.bound:g} %",
            held,
        ]

    def part_cells(self) -> list[str]:
        """Return the first cells of BUDGET_COLUMNS: the parts of the cost."""
        return ["" if one is None else f"{one:.2f}" for one in (self.stalls, self.counting)]


def found(runs: Sequence[Run]) -> list[Kept]:
    """Return what is known of each policy with a bound, in the order of the runs."""
    grouped = by_policy.grouped(runs)
    kept = []
    for (variant, workload, policy), same in grouped.items():
        bounded = [run for run in same if "bound" in run]
        if not bounded:
            continue
        fastest = _throughputs(grouped.get((variant, workload, UPPER), []))
        shares = [100 * share for run in bounded if (share := slow_share(run)) is not None]
        stalls = [100 * share for run in bounded if (share := stall_share(run)) is not None]
        slowdowns = [100 * (1 - ratio) for ratio in ratios(_throughputs(bounded), fastest)]
        kept.append(
            Kept(
                workload=workload,
                variant=str(bounded[0]["machine"].get("variant") or ""),
                policy=policy,
                bound=bounded[0]["bound"]["percent"],
                slow=_median(shares),
                stalls=_median(stalls),
                counting=median(100 * counting_share(run) for run in bounded),
                slowdown=_median(slowdowns),
            )
        )
    return kept


def included(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document `content` with these figures under KEY, if a policy has a bound."""
    rest = {key: value for key, value in content.items() if key != KEY}
    kept = [one.as_dict() for one in found(content["runs"])]
    return {**rest, KEY: kept} if kept else rest


def table(runs: Sequence[Run]) -> Table | None:
    """Return the table with a row for each policy with a bound; None if there is none."""
    kept = found(runs)
    if not kept:
        return None
    several = by_policy.several_variants(by_policy.grouped(runs))
    drawn = by_policy.empty_table(TITLE, several, COLUMNS)
    for one in kept:
        names = (one.variant or document.UNCHANGED, one.workload, one.policy)
        drawn.add_row(*by_policy.cells(names, several), *one.cells())
    return drawn


def details(runs: Sequence[Run]) -> Table | None:
    """Return the table of budgets, for --details; None if no policy has a bound."""
    grouped = by_policy.grouped(run for run in runs if "bound" in run)
    if not grouped:
        return None
    several = by_policy.several_variants(grouped)
    drawn = by_policy.empty_table(BUDGET_TITLE, several, BUDGET_COLUMNS)
    for (names, same), one in zip(grouped.items(), found(runs), strict=True):
        cells = [*one.part_cells(), *budget_cells(same)]
        drawn.add_row(*by_policy.cells(names, several), *cells)
    return drawn


def budget_cells(runs: Sequence[Run]) -> list[str]:
    """Return the other cells of BUDGET_COLUMNS, of a policy's runs.

    Budget and cost are medians over the samples of the region: the policy updates them a few times
    in a period. The two rates of memory, out to slow memory and back as it was visited too often,
    are those of the paper's Table 3.
    """
    rates = [
        (
            _in_region(run, "budget_ns") / 1e6,
            _in_region(run, "cost_ns") / 1e6,
            run["bound"]["counted"] / run["seconds"],
            PAGE_BYTES * total(run.get("migrated_pages", {}).get("demoted")) / run["seconds"] / 1e6,
            run["bound"]["came_back_bytes"] / run["seconds"] / 1e6,
        )
        for run in runs
    ]
    medians = [median(column) for column in zip(*rates, strict=True)]
    forms = ("{:,.1f}", "{:,.1f}", "{:,.0f}", "{:,.1f}", "{:,.1f}")
    return [form.format(value) for form, value in zip(forms, medians, strict=True)]


def slow_share(run: Run) -> float | None:
    """Return the part of the workload's memory that is in slow memory, as the region's mean.

    None if the kernel did not describe its pages.
    """
    sums = {
        tier: sum(count for kind, count in kinds.items() if kind in KINDS)
        for tier, kinds in run.get("pages", {}).items()
    }
    return fraction(sums.get("slow", 0), sum(sums.values())) if sum(sums.values()) else None


def stall_share(run: Run) -> float | None:
    """Return what slow memory cost more than fast memory would have, as a part of busy core time.

    The spare cores, whose kernel threads copy pages, are left out: of the stalls in kernel mode,
    the workload's cores have the same part on slow memory as on all memory. None without stalls by
    mode, or without misses.
    """
    stalls, misses = run.get("stall_ns"), run.get("misses")
    if not has_modes(stalls) or stalls is None or misses is None or "by_core" not in run:
        return None
    kernel = in_mode(stalls, "kernel")
    spare = sum(core["stall_ns"] for core in run["by_core"][int(run["cores"]) :])
    part = fraction(max(0.0, kernel - spare), kernel)
    excess = _excess(stalls, misses, "user") + part * _excess(stalls, misses, "kernel")
    return fraction(excess, _busy_ns(run))


def counting_share(run: Run) -> float:
    """Return the processor time of counting visits, as a part of busy core time."""
    return fraction(run["bound"]["counted"] * run["bound"]["fault_ns"], _busy_ns(run))


def _excess(stalls: Mapping[str, Any], misses: Mapping[str, Any], mode: str) -> float:
    """Return by how many ns stalls on slow memory are longer than those of fast memory."""
    excess = 0.0
    for kind, slow in stalls.get("slow", {}).items():
        count, fast_count = (
            (misses.get(tier, {}).get(kind) or {}).get(mode) or 0 for tier in ("slow", "fast")
        )
        fast = (stalls.get("fast", {}).get(kind) or {}).get(mode) or 0
        excess += max(0.0, (slow.get(mode) or 0) - count * fraction(fast, fast_count))
    return excess


def _busy_ns(run: Run) -> float:
    """Return the time in which the workload's cores were not idle, in ns."""
    busy: float = 1e9 * run["seconds"] * run["cores"] - run.get("idle_ns", 0)
    return max(0.0, busy)


def _in_region(run: Run, key: str) -> float:
    """Return the median over the region of a series of the budgets."""
    series = run["bound"]["series"]
    end = 1e9 * run["seconds"]
    samples = zip(series["t_ns"], series[key], strict=True)
    return median(float(value) for time, value in samples if 0 <= time <= end)


def _throughputs(runs: Sequence[Run]) -> dict[int, float]:
    return {run["seed"]: run["throughput"] for run in runs}


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} %"
