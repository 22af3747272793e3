# SPDX-License-Identifier: GPL-2.0
"""What a heat map shows: parts of the address space without the large gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kloc.base.ranges import joined
from kloc.heat import grid
from kloc.heat.records import Memory, Record

PARTS = 3
"""How many parts of processes are shown by default, as in the DAOS paper."""

GAP = 1 / 20
"""A gap of at least this fraction of the monitored memory of a process is cut out."""

ROWS_MIN = 2
"""The fewest rows of a part."""

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@dataclass(frozen=True)
class Part:
    """A range of addresses in bytes; `target` is the number of its process, 0 for physical memory.

    `name` says what it is of.
    """

    target: int
    start: int
    end: int
    name: str

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.end - self.start

    def title(self) -> str:
        """Return name, addresses and size as text."""
        return f"{self.name} {self.start:x}-{self.end:x}, {size_text(self.size)}"


def parts(record: Record, table: grid.Regions, most: int) -> list[Part]:
    """Return what to show, by process and address. `table` is `grid.regions(record)`.

    Of processes, these are the `most` parts with the most accesses; of physical memory, all.
    """
    if record.physical:
        return _of_memory(record.memory)
    found = [
        Part(number, start, end, f"{process.name} {process.pid}".strip())
        for number, process in enumerate(record.processes)
        for start, end in _without_gaps(record, number)
    ]
    hottest = sorted(
        found, key=lambda one: (-grid.heat(table, one.target, (one.start, one.end)), -one.size)
    )
    return [one for one in found if one in hottest[:most]]


def rows(sizes: Sequence[int], total: int) -> list[int]:
    """Return the rows of parts of these `sizes`: about `total` together, at least ROWS_MIN each."""
    whole = sum(sizes)
    return [max(ROWS_MIN, round(total * size / whole)) for size in sizes]


def size_text(size: int) -> str:
    """Return bytes with up to three digits: "1.5 GiB"."""
    unit, factor = next((one for one in reversed(UNITS.items()) if size >= one[1]), ("B", 1))
    value = size / factor
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def _of_memory(memory: Sequence[Memory]) -> list[Part]:
    """Return the parts of physical memory: ranges of a node, with small gaps between them."""
    whole = sum(one.end - one.start for one in memory)
    found: list[Part] = []
    for one in memory:
        name = f"node {one.node}" + (f", {one.tier}" if one.tier else "")
        last = found[-1] if found else None
        if last and last.name == name and one.start - last.end <= GAP * whole:
            found[-1] = Part(0, last.start, one.end, name)
        else:
            found.append(Part(0, one.start, one.end, name))
    return found


def _without_gaps(record: Record, number: int) -> list[tuple[int, int]]:
    """Return the ranges that a process had mapped at any time, those with small gaps as one.

    If they are not known, these are the monitored ranges. DAMON itself leaves out only the two
    largest gaps.
    """
    covered = list(record.processes[number].mapped)
    if not covered:
        ranges = {
            whole
            for one in record.snapshots
            if one.process == number
            for whole in joined((start, end) for start, end, _ in one.regions)
        }
        covered = joined(sorted(ranges))
    return joined(covered, int(GAP * sum(end - start for start, end in covered)))
