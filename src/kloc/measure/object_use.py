# SPDX-License-Identifier: GPL-2.0
"""Page use by kind (`kloc objects`): allocations, references, misses, lifetimes and intervals.

This is the KLOCs paper's Figure 2, for any workload, with a small and a large input. The timing
model counts (see machine/plugin/observer.h). This module renames and merges its page kinds, and
computes percentiles from its histograms.

Slab caches are page kinds of their own, but for two groups:
- `journal` is the slabs of jbd2. The blocks that the journal writes are in the page cache of the
  block device (`blockdev`), or are pages of files.
- `socket` is the pages of socket buffers and their slabs (skbuff_*).

`other` is pages that their struct page does not identify.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kloc.machine.profile import Profile
from kloc.measure.policy import load
from kloc.measure.task import Task
from kloc.measure.workload import FULL, QUICK, Size, Workload, percentiles

POLICY = "naive"
"""The policy of observed runs: it moves no pages, so only their users determine their lifetimes."""

INPUTS: Mapping[str, Size] = {"small": QUICK, "large": FULL}
PERCENTILES = (50, 90, 99)

MERGED = {"slab:jbd2_": "journal", "slab:skbuff_": "socket", "unknown": "other"}
"""The kind that kinds of the timing model are counted as, by the prefix of their names."""

GROUPS: Mapping[str, str] = {
    "anon": "application",
    "shmem": "application",
    "file": "page cache",
    "blockdev": "block devices",
    "slab:": "slab",
    "socket": "sockets",
    "journal": "journal",
    "pagetable": "page tables",
}
"""The group of a kind in a plot, by the prefix of the kind's name."""

OTHER = "other"
"""The group of kinds that are not in GROUPS."""

Histogram = Counter[tuple[float, float]]
"""Counts by bucket, (from, to) in ns."""


@dataclass
class Use:
    """Totals of the pages of one kind in the measured region; durations are in ns.

    `before` pages were in use when the region began.
    """

    before: int = 0
    allocated: int = 0
    freed: int = 0
    references: int = 0
    misses: int = 0
    lifetimes: Histogram = field(default_factory=Counter)
    intervals: Histogram = field(default_factory=Counter)

    def add(self, other: Use) -> None:
        """Add the totals of `other` to these."""
        self.before += other.before
        self.allocated += other.allocated
        self.freed += other.freed
        self.references += other.references
        self.misses += other.misses
        self.lifetimes.update(other.lifetimes)
        self.intervals.update(other.intervals)

    @property
    def alive_at_end(self) -> int:
        """Pages allocated and not freed in the region; their lifetime is unknown."""
        return self.allocated - self.lifetimes.total()


Uses = dict[str, Use]
"""The use of pages by kind."""


def tasks(workload: Workload, profile: Profile, seed: int) -> dict[str, Task]:
    """Return the observed run of each input, by the name of the input."""
    return {
        name: Task(workload, load(POLICY), profile, seed, size, observe=True)
        for name, size in INPUTS.items()
    }


def uses(counted: Mapping[str, Mapping[str, Any]]) -> Uses:
    """Return the timing model's counts ("objects") by page kind, with merged kinds."""
    result: Uses = {}
    for name, counts in counted.items():
        use = Use(
            counts["before"],
            counts["allocated"],
            counts["freed"],
            counts["references"],
            counts["misses"],
            Counter({(low, high): count for low, high, count in counts["lifetime_ns"]}),
            Counter({(low, high): count for low, high, count in counts["interval_ns"]}),
        )
        result.setdefault(_with_prefix(name, MERGED, name), Use()).add(use)
    return result


def merged(uses_by_kind: Uses, names: Mapping[str, str]) -> Uses:
    """Return the sum of the uses of all kinds that have the same name in `names`."""
    result: Uses = {}
    for kind, use in uses_by_kind.items():
        result.setdefault(names[kind], Use()).add(use)
    return result


def group(kind: str) -> str:
    """Return the group of a kind in a plot."""
    return _with_prefix(kind, GROUPS, OTHER)


def _with_prefix(name: str, values: Mapping[str, str], default: str) -> str:
    """Return the value of the first key that `name` begins with."""
    return next((value for prefix, value in values.items() if name.startswith(prefix)), default)


def spread(histogram: Histogram) -> dict[str, float | None]:
    """Return p50, p90 and p99 of a histogram, each None if nothing was counted."""
    if not histogram.total():
        return {f"p{percentile}": None for percentile in PERCENTILES}
    return dict(percentiles(histogram, PERCENTILES))
