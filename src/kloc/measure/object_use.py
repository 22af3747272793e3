# SPDX-License-Identifier: GPL-2.0
"""What the kernel's memory does: pages by kind, who refers to them, how long they live.

The KLOCs paper's Figure 2, of any workload, for a small and a large input. The
timing model counts (machine/plugin/observer.h says what exactly); here the
counts are brought under the names that people know, and percentiles are made
of the histograms.

What is counted where: journal is what jbd2's slabs hold, socket what socket
buffers hold, their slabs (skbuff_*) and their pages; every other slab cache is
a kind of its own. The blocks that the journal writes lie in the block device's
page cache (blockdev) or are pages of files. Whoever is still to be told from a
struct page is other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kloc.machine.profile import Profile
from kloc.measure.policy import load
from kloc.measure.task import Task
from kloc.measure.workload import FULL, QUICK, Size, Workload, percentiles

if TYPE_CHECKING:
    pass
POLICY = "naive"
"""What is observed under: nothing is moved, so that a page's life is its owner's doing."""

INPUTS: Mapping[str, Size] = {"small": QUICK, "large": FULL}
PERCENTILES = (50, 90, 99)

MERGED = {"slab:jbd2_": "journal", "slab:skbuff_": "socket", "unknown": "other"}
"""The model's kinds that are counted under another name, by how their names begin."""

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
"""What a plot shows of a kind, by how its name begins; the rest is "the rest"."""

REST = "the rest"

Histogram = Counter[tuple[float, float]]


@dataclass
class Use:
    """What the pages of one kind came to in the measured region; durations in ns."""

    before: int = 0
    allocated: int = 0
    freed: int = 0
    references: int = 0
    misses: int = 0
    lifetimes: Histogram = field(default_factory=Counter)
    intervals: Histogram = field(default_factory=Counter)

    def add(self, other: Use) -> None:
        """Count the other's pages among these."""
        self.before += other.before
        self.allocated += other.allocated
        self.freed += other.freed
        self.references += other.references
        self.misses += other.misses
        self.lifetimes.update(other.lifetimes)
        self.intervals.update(other.intervals)

    @property
    def alive_at_end(self) -> int:
        """Pages that were allocated in the region and outlived it: of no known lifetime."""
        return self.allocated - self.lifetimes.total()


Uses = dict[str, Use]


def tasks(what: Workload, host: Profile, seed: int) -> dict[str, Task]:
    """Return the run of each input."""
    return {
        name: Task(what, load(POLICY), host, seed, size, observe=True)
        for name, size in INPUTS.items()
    }


def uses(counted: Mapping[str, Mapping[str, Any]]) -> Uses:
    """Return what the timing model counted, by the kinds that people know."""
    found: Uses = {}
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
        found.setdefault(_kind(name), Use()).add(use)
    return found


def merged(of: Uses, name: Mapping[str, str]) -> Uses:
    """Return the uses of several kinds together, where `name` gives those the same name."""
    found: Uses = {}
    for kind, use in of.items():
        found.setdefault(name[kind], Use()).add(use)
    return found


def _kind(name: str) -> str:
    for beginning, kind in MERGED.items():
        if name.startswith(beginning):
            return kind
    return name


def group(kind: str) -> str:
    """Return what a plot shows pages of this kind as."""
    for beginning, name in GROUPS.items():
        if kind.startswith(beginning):
            return name
    return REST


def shares(counts: Sequence[int]) -> list[float]:
    """Return each count as a fraction of their total; zeros if the total is 0."""
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def spread(histogram: Histogram) -> dict[str, float | None]:
    """Return p50, p90 and p99; None where nothing was counted."""
    if not histogram.total():
        return {f"p{percentile}": None for percentile in PERCENTILES}
    return dict(percentiles(histogram, PERCENTILES))
