# SPDX-License-Identifier: GPL-2.0
"""A result document's runs, sorted into cases: one workload on one variant of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from kloc.measure.policy import COMPARED
from kloc.measure.record import Run
from kloc.results.report import kinds
from kloc.results.report.kinds import Group
from kloc.results.table import LOWER, UPPER

LITTLE_TO_WIN = 1.02
"""Bounds closer than this factor leave nothing of which a share would mean something."""

LEVEL = 0.99
"""A policy within this factor of the best is level with it."""


@dataclass(frozen=True)
class Spread:
    """The median of a figure over seeds, with its range."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread | None:
        """Return the spread of these values; None where there are none."""
        each = list(values)
        return cls(median(each), min(each), max(each), len(each)) if each else None


@dataclass(frozen=True)
class Times:
    """Where a run's seconds went (the mean over seeds); stalls by tier and group of pages."""

    seconds: float
    compute: float
    stall: Mapping[str, Mapping[Group, float]]
    storage: float
    idle: float
    excess: float

    def stalled(self, group: Group) -> float:
        """Return the seconds of stalls on a group of pages, in all tiers."""
        return sum(groups.get(group, 0.0) for groups in self.stall.values())


@dataclass(frozen=True)
class Case:
    """The runs of one workload on one variant of a machine, by policy and seed."""

    workload: str
    machine: str
    variant: str
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """What to call it: the workload, and the variant where there is one."""
        return f"{self.workload}, {self.variant}" if self.variant else self.workload

    @property
    def policies(self) -> list[str]:
        """The policies that ran, worst bound to best as in a comparison, then others."""
        return ordered(run["policy"] for run in self.runs)

    @property
    def contenders(self) -> list[str]:
        """The policies that are neither a bound nor computed."""
        return [
            name
            for name in self.policies
            if name not in (LOWER, UPPER) and not self.is_computed(name)
        ]

    @property
    def is_timed(self) -> bool:
        """Whether it is a program that counts no operations: its seconds are what there is."""
        return all(run["operations"] == 1 for run in self.runs)

    @property
    def oracle(self) -> str | None:
        """The computed policy, if there is one."""
        return next((name for name in self.policies if self.is_computed(name)), None)

    def of(self, policy: str) -> list[Run]:
        """Return the runs under a policy, by seed."""
        return sorted(
            (run for run in self.runs if run["policy"] == policy), key=lambda run: run["seed"]
        )

    def is_computed(self, policy: str) -> bool:
        """Return whether a policy's result was derived, not run."""
        return any(run.get("computed") for run in self.of(policy))

    def spread(self, policy: str, figure: str) -> Spread | None:
        """Return the spread of a figure that each run has at its top level."""
        return Spread.of(run[figure] for run in self.of(policy))

    def ratio(self, policy: str, bound: str) -> Spread | None:
        """Return throughput relative to a bound's with the same seed; None without the bound."""
        bounds = self._throughput(bound)
        return Spread.of(
            value / bounds[seed]
            for seed, value in self._throughput(policy).items()
            if bounds.get(seed)
        )

    def way(self, policy: str, upper: str = UPPER) -> Spread | None:
        """Return the share that a policy takes of what there is to win, from all-slow to `upper`.

        None where a bound is missing, or where they are so close that there is nothing to win.
        """
        low, high = self._throughput(LOWER), self._throughput(upper)
        return Spread.of(
            (value - low[seed]) / (high[seed] - low[seed])
            for seed, value in self._throughput(policy).items()
            if seed in low and seed in high and high[seed] >= low[seed] * LITTLE_TO_WIN
        )

    def best(self) -> list[str]:
        """Return the fastest of the contenders, and after it those that are level with it.

        Level are those within 1 %, and with several seeds those whose ranges overlap with its.
        """
        found = {name: self.spread(name, "throughput") for name in self.contenders}
        spreads = {name: spread for name, spread in found.items() if spread}
        if not spreads:
            return []
        first = max(spreads, key=lambda name: spreads[name].median)
        top = spreads[first]
        rest = [
            name
            for name, spread in spreads.items()
            if name != first
            and (spread.median >= LEVEL * top.median or (top.count > 1 and spread.high >= top.low))
        ]
        return [first, *sorted(rest, key=lambda name: -spreads[name].median)]

    def times(self, policy: str) -> Times | None:
        """Return where the time of a policy's runs went; None where nothing ran."""
        runs = [run for run in self.of(policy) if "stall_ns" in run]
        if not runs:
            return None

        def mean(figure: Callable[[Run], float]) -> float:
            return fmean(figure(run) for run in runs)

        seconds = mean(lambda run: run["seconds"])
        stall = {
            tier: mean_by_group([run["stall_ns"].get(tier, {}) for run in runs])
            for tier in dict.fromkeys(tier for run in runs for tier in run["stall_ns"])
        }
        stalls = sum(sum(groups.values()) for groups in stall.values())
        waits = mean(lambda run: run.get("idle_ns", 0)) / 1e9
        storage = mean(lambda run: run.get("storage_wait_ns", 0)) / 1e9
        excess = mean(lambda run: run.get("background_excess_ns", 0)) / 1e9
        return Times(
            seconds=seconds,
            compute=max(0.0, seconds - stalls - waits - excess),
            stall=stall,
            storage=storage,
            idle=max(0.0, waits - storage),
            excess=excess,
        )

    def _throughput(self, policy: str) -> dict[int, float]:
        return {run["seed"]: run["throughput"] for run in self.of(policy)}


def cases(runs: Sequence[Run]) -> list[Case]:
    """Return the cases of a document's runs, in the order in which they occur."""
    grouped: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        grouped.setdefault(_case_of(run), []).append(run)
    return [Case(*key, tuple(found)) for key, found in grouped.items()]


def ordered(names: Iterable[str]) -> list[str]:
    """Return the names of policies in the order of a comparison, others after them."""
    unique = set(names)
    return [name for name in COMPARED if name in unique] + sorted(unique - set(COMPARED))


def mean_by_group(of_runs: Sequence[Mapping[str, Any]]) -> dict[Group, float]:
    """Return seconds by group of pages from each run's ns by kind: the mean over runs."""
    sums: dict[Group, float] = {}
    for of_run in of_runs:
        flat = {kind: total(value) for kind, value in of_run.items()}
        for group, value in kinds.by_group(flat).items():
            sums[group] = sums.get(group, 0.0) + value / len(of_runs) / 1e9
    return sums


def total(tree: Any) -> float:
    """Return the sum of all numbers in a tree of mappings."""
    if isinstance(tree, Mapping):
        return sum(total(value) for value in tree.values())
    return float(tree or 0)


def _case_of(run: Run) -> tuple[str, str, str]:
    machine = run["machine"]
    return run["workload"], machine["name"], str(machine.get("variant") or "")
