# SPDX-License-Identifier: GPL-2.0
"""Groups a document's runs into cases: one workload on one variant of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from kloc.base.stats import Spread, ratios, total
from kloc.measure.policy import COMPARED
from kloc.measure.record import Run
from kloc.results import ahead
from kloc.results.ahead import Lead
from kloc.results.report import kinds
from kloc.results.report.kinds import Group
from kloc.results.rows import LOWER, UPPER

LEAST_HEADROOM = 1.02
"""If all-fast is faster than all-slow by less than this factor, shares of it mean nothing."""


@dataclass(frozen=True)
class Times:
    """The parts of a run's time in seconds, averaged over seeds.

    They are the mean of the workload's cores. Stalls are by tier and group of pages.
    """

    seconds: float
    compute: float
    stall: Mapping[str, Mapping[Group, float]]
    storage: float
    idle: float

    def stalled(self, group: Group) -> float:
        """Return the stall time on a group of pages in all tiers."""
        return sum(groups.get(group, 0.0) for groups in self.stall.values())


@dataclass(frozen=True)
class Case:
    """The runs of one workload on one variant of a machine."""

    workload: str
    machine: str
    variant: str
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """The workload, with the variant if the machine has one."""
        return f"{self.workload}, {self.variant}" if self.variant else self.workload

    @property
    def policies(self) -> list[str]:
        """The policies that ran, in the order of a comparison."""
        return in_order(run["policy"] for run in self.runs)

    @property
    def contenders(self) -> list[str]:
        """The policies without the bounds and the oracle."""
        return [
            name
            for name in self.policies
            if name not in (LOWER, UPPER) and not self.is_oracle(name)
        ]

    @property
    def is_timed(self) -> bool:
        """Whether the program counts no operations, so that its time is the result."""
        return all(run["operations"] == 1 for run in self.runs)

    @property
    def unit(self) -> str:
        """What the runs of two policies have in common: a seed, or a round on a server itself."""
        return ahead.unit(self.runs)

    @property
    def time_name(self) -> str:
        """The time that is measured: the machine's, or on a server that of a clock."""
        return "time" if self.unit == ahead.ROUND else "simulated time"

    @property
    def oracle(self) -> str | None:
        """The oracle, if it was run."""
        return next((name for name in self.policies if self.is_oracle(name)), None)

    @property
    def oracle_bound(self) -> str | None:
        """The oracle, if it is a bound: no contender is faster. None if one is, or without it.

        The oracle is static by page frame. Where the kernel uses frames again for other pages, it
        is no bound.
        """
        if self.oracle is None:
            return None
        ratios_to_it = (self.ratio(name, self.oracle) for name in self.contenders)
        is_bound = all(spread is None or spread.median <= 1 for spread in ratios_to_it)
        return self.oracle if is_bound else None

    @property
    def has_bounds(self) -> bool:
        """Whether both bounds were measured."""
        return {LOWER, UPPER} <= set(self.policies)

    def runs_under(self, policy: str) -> list[Run]:
        """Return the runs under a policy, ordered by seed."""
        return sorted(
            (run for run in self.runs if run["policy"] == policy), key=lambda run: run["seed"]
        )

    def is_oracle(self, policy: str) -> bool:
        """Return whether a policy's pages were placed by what another run had shown."""
        return any("oracle" in run for run in self.runs_under(policy))

    def spread(self, policy: str, figure: str) -> Spread | None:
        """Return the spread over seeds of a top-level figure of the runs."""
        return Spread.of(run[figure] for run in self.runs_under(policy))

    def ratio(self, policy: str, bound: str) -> Spread | None:
        """Return throughput relative to a bound's, seed by seed; None without the bound."""
        bounds = {seed: value for seed, value in self._throughput(bound).items() if value}
        return Spread.of(ratios(self._throughput(policy), bounds))

    def headroom_share(self, policy: str, upper: str = UPPER) -> Spread | None:
        """Return the share of the headroom, from all-slow to `upper`, that a policy uses.

        It is computed seed by seed, with 0 for all-slow and 1 for `upper`. None if one of the two
        was not measured, or if they differ by less than LEAST_HEADROOM.
        """
        low, high = self._throughput(LOWER), self._throughput(upper)
        return Spread.of(
            (value - low[seed]) / (high[seed] - low[seed])
            for seed, value in self._throughput(policy).items()
            if seed in low and high.get(seed, 0) > 0 and high[seed] >= low[seed] * LEAST_HEADROOM
        )

    @property
    def lead(self) -> Lead | None:
        """Which contender has the highest throughput, and whether it is ahead of the others."""
        return ahead.lead(self.runs, self.contenders)

    def leaders(self) -> list[str]:
        """Return the contenders that lead: one that is ahead of all others, or those that tie.

        Empty if nobody can tell, or if there are not two to compare.
        """
        lead = self.lead
        return lead.leaders if lead and lead.verdicts else []

    def times(self, policy: str) -> Times | None:
        """Return the parts of the time of a policy's runs; None if it did not run."""
        runs = [run for run in self.runs_under(policy) if "stall_ns" in run]
        if not runs:
            return None

        def mean(figure: Callable[[Run], float]) -> float:
            return fmean(figure(run) for run in runs)

        cores = max(1, runs[0].get("cores", 1))
        seconds = mean(lambda run: run["seconds"])
        stall = {
            tier: {
                group: value / cores
                for group, value in mean_by_group(
                    [run["stall_ns"].get(tier, {}) for run in runs]
                ).items()
            }
            for tier in dict.fromkeys(tier for run in runs for tier in run["stall_ns"])
        }
        stalls = sum(sum(groups.values()) for groups in stall.values())
        waits = mean(lambda run: run.get("idle_ns", 0)) / cores / 1e9
        storage = min(waits, mean(lambda run: run.get("storage_wait_ns", 0)) / cores / 1e9)
        return Times(
            seconds=seconds,
            compute=max(0.0, seconds - stalls - waits),
            stall=stall,
            storage=storage,
            idle=max(0.0, waits - storage),
        )

    def _throughput(self, policy: str) -> dict[int, float]:
        return {run["seed"]: run["throughput"] for run in self.runs_under(policy)}


def cases(runs: Sequence[Run]) -> list[Case]:
    """Return the cases of a document's runs, in the order of their first runs."""
    grouped: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        machine = run["machine"]
        key = run["workload"], machine["name"], str(machine.get("variant") or "")
        grouped.setdefault(key, []).append(run)
    return [Case(*key, tuple(case_runs)) for key, case_runs in grouped.items()]


def in_order(policies: Iterable[str]) -> list[str]:
    """Return policies without repetitions in the order of a comparison, followed by others."""
    unique = set(policies)
    return [name for name in COMPARED if name in unique] + sorted(unique - set(COMPARED))


def mean_by_group(stalls: Sequence[Mapping[str, Any]]) -> dict[Group, float]:
    """Return stall times by group of pages in seconds: the mean of runs' ns by page kind."""
    sums: dict[Group, float] = {}
    for run_stalls in stalls:
        by_kind = {kind: total(value) for kind, value in run_stalls.items()}
        for group, value in kinds.by_group(by_kind).items():
            sums[group] = sums.get(group, 0.0) + value / len(stalls) / 1e9
    return sums
