# SPDX-License-Identifier: GPL-2.0
"""Which policies are ahead of a baseline and which are behind: throughput, seed by seed.

The same seed draws the same operations under each policy. So the ratio of two policies differs less
between seeds than their throughputs do, and is compared instead of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median, stdev
from typing import Any

from kloc.base.stats import ratios_by_seed, students_t
from kloc.results.rows import LOWER, UPPER

Run = dict[str, Any]
"""A record: kloc.measure.record, which servers need not be able to import."""

BASELINES = ("tpp", "stock", "naive", "kloc", "baseline")
"""The policies that others are compared with by default: the first one that was measured."""

CONFIDENCE = 0.95
"""The confidence of the intervals."""

FEW = 2
"""With at most so many seeds, an interval around 1 does not show that two policies are alike."""


SEED, ROUND = "seed", "round"
"""What the throughputs of two policies have in common that are divided by each other."""


class Verdict(StrEnum):
    """What the ratios of two policies say."""

    AHEAD = "ahead"
    BEHIND = "behind"
    TIE = "tie"
    UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class Comparison:
    """A policy's throughput relative to that of a baseline, on one workload and machine variant.

    `ratios` are by seed, and there is at least one. `spread` is what the workload states: by which
    fraction such a ratio differs between seeds; None if that is not known. `unit` is what seeds are
    called: those of a comparison on a server itself are rounds.
    """

    workload: str
    variant: str
    policy: str
    baseline: str
    ratios: Mapping[int, float]
    spread: float | None = None
    unit: str = SEED

    @property
    def name(self) -> str:
        """The workload, with the variant if the machine has one."""
        return f"{self.workload}, {self.variant}" if self.variant else self.workload

    @property
    def ratio(self) -> float:
        """The geometric mean of the ratios."""
        return math.exp(fmean(self._logarithms))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the mean ratio, by Student's t of the logarithms; None for one seed."""
        logs = self._logarithms
        if len(logs) < 2:
            return None
        half = students_t(len(logs) - 1, CONFIDENCE) * stdev(logs) / math.sqrt(len(logs))
        return self.ratio * math.exp(-half), self.ratio * math.exp(half)

    @property
    def verdict(self) -> Verdict:
        """Whether the interval is above 1, below 1, or includes it.

        One seed is judged by the spread that the workload states.
        """
        interval = self.interval or self._stated_interval
        if interval is None:
            return Verdict.UNKNOWN
        if interval[0] > 1:
            return Verdict.AHEAD
        if interval[1] < 1:
            return Verdict.BEHIND
        return Verdict.UNKNOWN if len(self.ratios) <= FEW else Verdict.TIE

    @property
    def verdict_text(self) -> str:
        """The verdict, with the reason for it if there are few seeds."""
        seeds = len(self.ratios)
        if self.verdict is Verdict.UNKNOWN:
            return f"{_seeds(seeds, self.unit)}: {self.verdict}"
        if seeds == 1 and self.spread is not None:
            return f"{self.verdict} (one seed, beyond the spread of {100 * self.spread:.0f} %)"
        return str(self.verdict)

    @property
    def ratio_text(self) -> str:
        """The ratio and its interval: "1.01 (0.99 to 1.03)"."""
        if self.interval is None:
            return f"{self.ratio:.2f}"
        return f"{self.ratio:.2f} ({self.interval[0]:.2f} to {self.interval[1]:.2f})"

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as result files have it (docs/results.md)."""
        low, high = self.interval or (None, None)
        return {
            "workload": self.workload,
            "variant": self.variant,
            "policy": self.policy,
            "ratio": self.ratio,
            "low": low,
            "high": high,
            "verdict": str(self.verdict),
            "by_seed": {str(seed): ratio for seed, ratio in self.ratios.items()},
        }

    @property
    def _logarithms(self) -> list[float]:
        return [math.log(ratio) for ratio in self.ratios.values()]

    @property
    def _stated_interval(self) -> tuple[float, float] | None:
        """What the ratio may be with other seeds, by the spread that the workload states."""
        if self.spread is None:
            return None
        return self.ratio / (1 + self.spread), self.ratio * (1 + self.spread)


@dataclass(frozen=True)
class Lead:
    """The policy of a case with the highest throughput, and whether that is ahead of the others.

    `verdicts` are those of `first` relative to each other policy; `seeds` is how many seeds it has
    in common with each of them at least, and `unit` what these are called.
    """

    first: str
    verdicts: Mapping[str, Verdict]
    seeds: int
    unit: str = SEED

    @property
    def leaders(self) -> list[str]:
        """The first policy and those that tie with it; empty if one of the verdicts is unknown."""
        return [] if self.undecided else [self.first, *self._with(Verdict.TIE)]

    @property
    def undecided(self) -> list[str]:
        """The policies of which nobody can tell which one is fastest; empty if it is known."""
        # Behind though its median is the highest: medians and seeds contradict each other.
        if not self._with(Verdict.UNKNOWN, Verdict.BEHIND):
            return []
        return [self.first, *self._with(Verdict.UNKNOWN, Verdict.BEHIND, Verdict.TIE)]

    @property
    def behind(self) -> list[str]:
        """The policies that the first one is ahead of."""
        return self._with(Verdict.AHEAD)

    @property
    def seeds_text(self) -> str:
        """How many seeds this is from: "one seed", "3 seeds" or "no seed in common"."""
        return _seeds(self.seeds, self.unit)

    def _with(self, *verdicts: Verdict) -> list[str]:
        return [name for name, verdict in self.verdicts.items() if verdict in verdicts]


def baseline(document: Mapping[str, Any], wanted: str | None = None) -> str | None:
    """Return the policy that the others of a document are compared with.

    That is `wanted`, the one that the document names, or the first of BASELINES that was measured.
    None if none of them was.
    """
    measured = {run["policy"] for run in document["runs"]}
    named = (document.get("against") or {}).get("baseline")
    choices = [choice for choice in (wanted, named, *BASELINES) if choice]
    return next((choice for choice in choices if choice in measured), None)


def comparisons(runs: Sequence[Run], against: str | None) -> list[Comparison]:
    """Return the comparisons of all policies with the baseline `against`, policy by policy.

    The bounds, the oracle and the rows of `kloc what-if` are not compared. A workload on which the
    two have no seed in common has no comparison.
    """
    by_case: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        by_case.setdefault((run["workload"], _variant(run)), []).append(run)
    return [
        one
        for policy in contenders(runs)
        for case in by_case.values()
        if policy != against and (one := comparison(case, policy, against or ""))
    ]


def comparison(case: Sequence[Run], policy: str, against: str) -> Comparison | None:
    """Return the comparison of two policies in the runs of one workload on one machine variant.

    None if they have no seed in common. All that tables and reports say about who is ahead comes
    from its verdict.
    """
    these, those = (_throughputs(case, name) for name in (policy, against))
    ratios = ratios_by_seed(these, those)
    if not ratios:
        return None
    spread = max((run["spread"] for run in case if run.get("spread") is not None), default=None)
    return Comparison(
        case[0]["workload"], _variant(case[0]), policy, against, ratios, spread, unit(case)
    )


def unit(runs: Sequence[Run]) -> str:
    """Return what two policies have in common in runs whose throughputs are divided."""
    return ROUND if any(ROUND in run for run in runs) else SEED


def lead(case: Sequence[Run], policies: Iterable[str]) -> Lead | None:
    """Return which of `policies` has the highest median throughput in a case, and how far it leads.

    The others are in the order of their throughput. None if none of them ran.
    """
    speeds = {name: _throughputs(case, name) for name in policies}
    medians = {name: median(by_seed.values()) for name, by_seed in speeds.items() if by_seed}
    if not medians:
        return None
    first, *others = sorted(medians, key=lambda name: -medians[name])
    found = {name: comparison(case, first, name) for name in others}
    return Lead(
        first,
        {name: one.verdict if one else Verdict.UNKNOWN for name, one in found.items()},
        min(
            (len(one.ratios) if one else 0 for one in found.values()),
            default=len(speeds[first]),
        ),
        unit(case),
    )


def contenders(runs: Iterable[Run]) -> list[str]:
    """Return the policies of runs that are neither a bound nor the oracle, nor only a timing."""
    return list(
        dict.fromkeys(
            run["policy"]
            for run in runs
            if run["policy"] not in (LOWER, UPPER)
            and "oracle" not in run
            and "placement" not in run
        )
    )


def included(document: Mapping[str, Any], wanted: str | None = None) -> dict[str, Any]:
    """Return the document with the comparisons of its runs under the key "against".

    `wanted` is the baseline that the user has chosen, if any (see `baseline`). Without comparisons,
    the key is missing.
    """
    against = baseline(document, wanted)
    found = comparisons(document["runs"], against)
    rest = {key: value for key, value in document.items() if key != "against"}
    if not found:
        return rest
    return {
        **rest,
        "against": {
            "baseline": against,
            "confidence": CONFIDENCE,
            "comparisons": [one.as_dict() for one in found],
        },
    }


def lines(document: Mapping[str, Any], wanted: str | None = None) -> list[str]:
    """Return what is printed below a table: for each policy, a line for each workload.

    They say if the usual baseline was not measured, or none at all. Empty for fewer than two
    policies.
    """
    runs = document["runs"]
    against = baseline(document, wanted)
    found = comparisons(runs, against)
    if not found:
        alone = len(contenders(runs)) < 2
        return [] if alone else [f"no ratios: no baseline ({', '.join(BASELINES)}) was measured"]
    usual = BASELINES[0]
    is_usual = any(run["policy"] == usual for run in runs)
    instead = "" if is_usual else f" ({usual} was not measured)"
    each = found[0].unit
    names = max(len(one.name) for one in found)
    ratios = max(len(one.ratio_text) for one in found)
    text = []
    for policy in dict.fromkeys(one.policy for one in found):
        text.append(f"{policy} against {against}{instead}, {each} by {each}:")
        text += [
            f"  {one.name:{names}}  {one.ratio_text:{ratios}}  {one.verdict_text}"
            for one in found
            if one.policy == policy
        ]
    return text


def _throughputs(case: Iterable[Run], policy: str) -> dict[int, float]:
    return {run["seed"]: run["throughput"] for run in case if run["policy"] == policy}


def _variant(run: Run) -> str:
    return str(run["machine"].get("variant") or "")


def _seeds(count: int, unit: str = SEED) -> str:
    if not count:
        return f"no {unit} in common"
    return f"one {unit}" if count == 1 else f"{count} {unit}s"
