# SPDX-License-Identifier: GPL-2.0
"""Memory management schemes (DAOS, section 3.2): conditions on regions, and an action for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from kloc.schemes.units import Frequency, format_time

Threshold = Literal["min_size", "max_size", "min_frequency", "max_frequency", "min_age", "max_age"]

THRESHOLDS: tuple[Threshold, ...] = (
    "min_size",
    "max_size",
    "min_frequency",
    "max_frequency",
    "min_age",
    "max_age",
)
"""The conditions, in the order of a scheme's text."""

Value = int | Frequency
"""The value of a threshold: bytes, a frequency, or microseconds."""

Node = int | str
"""A node of memory: its number, or the name of a tier, whose nodes depend on the machine."""

TIERS = ("fast", "slow")
"""The names of tiers in schemes: the tier of the nodes with CPUs, and all tiers below it."""

PAGE, AGE_STEP = 4096, 100_000
"""Bytes of a page, and microseconds: tuned values are rounded to these."""

MIGRATIONS = ("migrate_hot", "migrate_cold")

ACTIONS = {
    "willneed": "read the region ahead",
    "cold": "reclaim the region first under memory pressure",
    "pageout": "reclaim the region now",
    "hugepage": "use huge pages (THP) in the region",
    "nohugepage": "do not use huge pages in the region",
    "lru_prio": "reclaim the region last under memory pressure",
    "lru_deprio": "reclaim the region first under memory pressure",
    "migrate_hot": "move the region to a node, hottest first",
    "migrate_cold": "move the region to a node, coldest first",
    "stat": "only count the region",
}
"""The actions of Linux 6.12, by the kernel's names."""

OF_PROCESSES = ("willneed", "cold", "pageout", "hugepage", "nohugepage", "stat")
OF_PHYSICAL_MEMORY = ("pageout", "lru_prio", "lru_deprio", *MIGRATIONS, "stat")
"""The actions that have an effect on each kind of target. DAMON ignores others without an error."""

FILTERS_OF_PHYSICAL_MEMORY = ("anon", "memcg", "young")
"""The filters that DAMON ignores on processes."""

METRICS = ("none", "free_mem_rate")
"""What watermarks may look at."""

NONE = "none"
"""The threshold of a workload for which kloc tune found no value that is better than no scheme."""


@dataclass(frozen=True)
class Quota:
    """How much a scheme may do in each reset interval; 0 is no limit.

    Under a quota, regions with the highest priority come first: `weights` are those of size,
    frequency and age in it.
    """

    time_ms: int = 0
    size: int = 0
    reset_ms: int = 1000
    weights: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Watermarks:
    """When a scheme is active, by a metric in permil that is read every `interval_us`.

    It becomes active below `mid`, and inactive above `high` or below `low`.
    """

    metric: str
    interval_us: int
    high: int
    mid: int
    low: int


@dataclass(frozen=True)
class Filter:
    """Memory that the action leaves out: what is of a kind (`matching`), or what is not.

    `value` is a memcg's path, the two ends of an address range, a target's index, or None.
    """

    kind: str
    matching: bool
    value: str | tuple[int, int] | int | None = None


@dataclass(frozen=True)
class Tuned:
    """The threshold that the tuner sets, and the range in which it looks."""

    threshold: Threshold
    low: Value
    high: Value


@dataclass(frozen=True)
class Scheme:
    """An action for all regions whose size, access frequency and age are within limits.

    Sizes are bytes, ages microseconds. `action` is a key of ACTIONS; `node` is where a migration
    moves memory. `source` is the memory that the scheme is for, None for all. `tuned` names a
    threshold to tune; its own value is the one without tuning.
    """

    min_size: int
    max_size: int
    min_frequency: Frequency
    max_frequency: Frequency
    min_age: int
    max_age: int
    action: str
    node: Node | None = None
    source: Node | None = None
    quota: Quota | None = None
    watermarks: Watermarks | None = None
    filters: tuple[Filter, ...] = ()
    tuned: Tuned | None = None

    def at(self, number: float) -> Scheme:
        """Return this scheme with `number` as its tuned threshold, in the threshold's unit.

        That is bytes, samples or percent (as its range has), or microseconds. It is rounded to what
        DAMON can tell apart: pages, and ages of 100 ms unless the range is for smaller ones.
        """
        assert self.tuned is not None
        low = self.tuned.low
        value: Value = round(number)
        step = PAGE if self.tuned.threshold.endswith("_size") else AGE_STEP
        if isinstance(self.tuned.high, int) and self.tuned.high > 10 * step:
            value = round(number / step) * step
        if isinstance(low, Frequency):
            exact = Fraction(number) if low.percent else Fraction(round(number))
            value = Frequency(exact.limit_denominator(1000), low.percent)
        return self._with(self.tuned.threshold, value)

    def _with(self, threshold: Threshold, value: Value) -> Scheme:
        changed: dict[str, Any] = {threshold: value}
        return replace(self, **changed)

    def problems(self) -> Iterator[str]:
        """Yield what does not fit together, as messages."""
        for low, high in zip(THRESHOLDS[::2], THRESHOLDS[1::2], strict=True):
            if _above(getattr(self, low), getattr(self, high)):
                yield f"{_words(low)} is above {_words(high)}"
        if (self.action in MIGRATIONS) != (self.node is not None):
            missing = self.node is None
            yield (
                f"{self.action} {'needs' if missing else 'takes no'} node={'N' if missing else ''}"
            )
        if self.source is not None and self.action not in OF_PHYSICAL_MEMORY:
            yield f"{self.action} takes no from="
        if self.source is not None and self.source == self.node:
            yield f"memory of {self.source} cannot move to {self.node}"
        quota = self.quota
        if quota is not None and quota.time_ms >= quota.reset_ms > 0:
            yield (
                f"the quota's time={format_time(quota.time_ms * 1000)} is no limit: it is not "
                f"below reset={format_time(quota.reset_ms * 1000)}"
            )
        marks = self.watermarks
        if marks is not None and not marks.low <= marks.mid <= marks.high:
            yield "the watermarks are not in the order high, mid, low"
        if self.tuned is not None:
            yield from self._problems_of_range(self.tuned)

    def _problems_of_range(self, tuned: Tuned) -> Iterator[str]:
        ends = {number(tuned.low), number(tuned.high)}
        if len(ends) == 1 or _above(tuned.low, tuned.high):
            yield f"the range of {_words(tuned.threshold)} has its smaller end second, or no length"
            return
        for end in (tuned.low, tuned.high):
            moved = replace(self._with(tuned.threshold, end), tuned=None)
            yield from (f"in the tuned range, {problem}" for problem in moved.problems())


def number(value: Value) -> float:
    """Return a threshold's value as a number in its unit."""
    return float(value.value) if isinstance(value, Frequency) else float(value)


def tuned_scheme(schemes: Sequence[Scheme]) -> Scheme | None:
    """Return the scheme among `schemes` that has a threshold to tune, None if none has one."""
    return next((scheme for scheme in schemes if scheme.tuned is not None), None)


def at(schemes: Sequence[Scheme], number: float) -> list[Scheme]:
    """Return the schemes with `number` as the value of the threshold that is to be tuned."""
    return [scheme if scheme.tuned is None else scheme.at(number) for scheme in schemes]


def _above(low: Value, high: Value) -> bool:
    """Return whether `low` is above `high`; samples and percentages cannot be compared yet."""
    if isinstance(low, Frequency) and isinstance(high, Frequency) and low.percent != high.percent:
        return False
    return number(low) > number(high)


def _words(threshold: str) -> str:
    return threshold.replace("_", "-")
