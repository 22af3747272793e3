# SPDX-License-Identifier: GPL-2.0
"""Watches since when each address was not accessed, as far as DAMON's samples tell.

DAMON's own age of a region does not measure that: it goes on while the accesses of the region
change by no more than a tenth of the most that any region has, and regions that DAMON merges get
the mean of their ages. So this module keeps the last access of every address: if a sample of a
region saw an access in an aggregation interval, all of the region was accessed.

DAMON merges neighbours whose accesses differ by no more than that tenth, and averages their
accesses. With fewer than ten samples in an aggregation interval, no access is lost that way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kloc.heat import tracing
from kloc.heat.recorder import Watcher
from kloc.heat.records import Region, Snapshot
from kloc.schemes.damon import Damon
from kloc.schemes.sysfs import Attributes

ATTRIBUTES = Attributes(20_000, 100_000, 1_000_000, 300, 1000)
"""How DAMON monitors by default: five samples in an aggregation interval (see above).

DAMON merges idle memory into regions of the monitored size divided by the least number of regions,
and samples one page of each. With the paper's 10, most pages would never be looked at.
"""

Segment = tuple[int, int, float]
"""First address, the address after the last one, and when they were accessed last, in seconds.

Addresses that were not accessed have the time from which on they were monitored.
"""


class LastAccess:
    """When the addresses of one process, or of physical memory, were accessed last."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        """Sorted by address."""

    def add(self, regions: Sequence[Region], began: float, ended: float) -> None:
        """Add the regions of an aggregation interval, sorted by address.

        What was not monitored before counts as monitored from `began` on. Addresses of no region
        are forgotten: nothing is mapped there.
        """
        found: list[Segment] = []
        place = 0
        for start, end, accesses in regions:
            if accesses:
                _append(found, (start, end, ended))
                continue
            while place < len(self.segments) and self.segments[place][1] <= start:
                place += 1
            for low, high, last in _parts(self.segments, place, start, end):
                _append(found, (low, high, began if last is None else last))
        self.segments = found

    def between(self, start: int, end: int) -> Iterator[tuple[int, int, float | None]]:
        """Yield the parts of a range with their last access, None if they were not monitored."""
        yield from _parts(self.segments, _first(self.segments, start), start, end)


class Idle(Watcher):
    """Watches the last accesses of processes, by their numbers, or of physical memory (None)."""

    def __init__(self, taken: Damon, trace: tracing.Trace, attributes: Attributes) -> None:
        super().__init__(taken, trace, attributes)
        self.last: dict[int | None, LastAccess] = {}
        self.began: float | None = None
        """When the first interval began, in seconds; None before there was one."""
        self.now = 0.0
        """When the last interval ended."""

    def take(self, snapshot: Snapshot) -> None:
        """Note which addresses were accessed in the interval."""
        began = snapshot.time - self.attributes.aggregation_us / 1e6
        if self.began is None:
            self.began = began
        self.now = max(self.now, snapshot.time)
        last = self.last.setdefault(snapshot.process, LastAccess())
        last.add(snapshot.regions, began, snapshot.time)

    @property
    def seconds(self) -> float:
        """For how long memory was monitored, in seconds."""
        return 0.0 if self.began is None else self.now - self.began


def _append(segments: list[Segment], new: Segment) -> None:
    """Append a segment, to the last one if it goes on there with the same time."""
    if segments and segments[-1][1:] == (new[0], new[2]):
        segments[-1] = (segments[-1][0], new[1], new[2])
    else:
        segments.append(new)


def _parts(
    segments: Sequence[Segment], place: int, start: int, end: int
) -> Iterator[tuple[int, int, float | None]]:
    """Yield the parts of a range with the times of segments from `place` on, None between them."""
    while start < end:
        while place < len(segments) and segments[place][1] <= start:
            place += 1
        low, high, last = segments[place] if place < len(segments) else (end, end, None)
        stop = min(end, low if start < low else high)
        yield start, stop, None if start < low else last
        start = stop


def _first(segments: Sequence[Segment], address: int) -> int:
    """Return the index of the first segment that ends after an address."""
    low, high = 0, len(segments)
    while low < high:
        middle = (low + high) // 2
        if segments[middle][1] <= address:
            low = middle + 1
        else:
            high = middle
    return low
