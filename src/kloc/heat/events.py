# SPDX-License-Identifier: GPL-2.0
"""Reads the lines of the tracepoint damon:damon_aggregated, and puts snapshots together.

DAMON emits one event for each region at the end of each aggregation interval, with its index of the
target and the number of the target's regions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kloc.heat.records import Region, Snapshot

EVENT = re.compile(
    r"(\d+\.\d+): damon_aggregated: target_id=(\d+) nr_regions=(\d+) (\d+)-(\d+): (\d+)"
)
LOST = re.compile(r"\[LOST \d+ EVENTS\]")
MARK = re.compile(r"(\d+\.\d+): tracing_mark_write: (.*)")


class Snapshots:
    """Puts events together; `lost` counts snapshots that are incomplete, because events are."""

    def __init__(self, start: float) -> None:
        """`start` is when the recording began, in seconds of the trace's clock."""
        self._start = start
        self._target = -1
        self._time = 0.0
        self._wanted = 0
        self._regions: list[Region] = []
        self._rest = ""
        self.lost = 0

    def add(self, text: str, processes: Sequence[int | None]) -> Iterator[Snapshot]:
        """Yield the snapshots that the next part of the trace completes.

        `processes` has the number of the process of each target, None for physical memory.
        """
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            found = EVENT.search(line)
            if found is None:
                self.lost += bool(LOST.search(line))
                continue
            target, wanted, start, end, accesses = map(int, found.groups()[1:])
            if not self._goes_on(target, start):
                self._begin(target, wanted, float(found[1]))
            self._regions.append((start, end, accesses))
            if len(self._regions) == self._wanted:
                time, regions = round(self._time - self._start, 6), tuple(self._regions)
                self._regions = []
                # A process that was a target before the last change of targets may be none now.
                if target < len(processes):
                    yield Snapshot(time, processes[target], regions)

    def _goes_on(self, target: int, start: int) -> bool:
        """Return whether a region belongs to the snapshot that is being put together."""
        return bool(self._regions) and target == self._target and start >= self._regions[-1][1]

    def _begin(self, target: int, wanted: int, time: float) -> None:
        self.lost += bool(self._regions)
        self._target, self._wanted, self._time = target, wanted, time
        self._regions = []
