# SPDX-License-Identifier: GPL-2.0
"""Counts memory that was not accessed for some time, by kind and page size (`kloc cold`).

This is Figure 1 of Thermostat (ASPLOS 2017) with more thresholds than its 10 s. When memory was
accessed last comes from DAMON (kloc.heat.idle). What is in memory, and of which kind, is read at
the end: of processes from /proc/PID/smaps and /proc/PID/pagemap, of all pages from
/proc/kpageflags. All three are in kernels with CONFIG_PROC_PAGE_MONITOR.

A page that several processes map counts once, as accessed when one of them accessed it.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from kloc.base.errors import KlocError
from kloc.base.ranges import Ranges
from kloc.heat import kinds, processes
from kloc.heat.idle import Idle, LastAccess
from kloc.schemes import damon

THRESHOLDS = (10, 30, 120)
"""Seconds without an access."""

KINDS = ("anonymous", "file", "shared")
"""The kinds of pages whose accesses DAMON sees, as kloc.heat.kinds names them."""

PRESENT, FRAME = 1 << 63, (1 << 55) - 1
"""An entry of /proc/PID/pagemap: whether the page is in memory, and the number of its frame."""

ENTRY_BYTES = 8
"""The size of an entry of /proc/PID/pagemap."""

HUGE_BYTES = kinds.PIECE_BYTES
"""The size of a huge page."""

ENTRIES = 1 << 13
"""How many entries are read at once."""

KEPT_MAX = 1 << 20
"""The most page frames of processes that are kept at once: they take about 100 MB."""

MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ")
RESIDENT = re.compile(r"^Rss: +(\d+) kB")

IdleFrames = Mapping[int, float]
"""For how long page frames were not accessed, in seconds, by their number."""


@dataclass(frozen=True)
class Row:
    """Memory of one kind and page size, in bytes.

    `huge`: in pages of 2 MiB, or larger ones. `idle` is the part of it that was not accessed for
    the time in THRESHOLDS, None if memory was not monitored for so long.
    """

    kind: str
    huge: bool
    size: int
    idle: tuple[int | None, ...]


def check() -> None:
    """Raise KlocError unless this kernel tells which pages are of which kind."""
    if not damon.path_of(kinds.FLAGS).exists():
        raise KlocError(
            f"this kernel does not tell the kinds of pages: {kinds.FLAGS} does not exist",
            "boot a kernel with CONFIG_PROC_PAGE_MONITOR (Debian's have it)",
        )


def page_bytes() -> int:
    """Return the size of a page that is not huge."""
    return os.sysconf("SC_PAGESIZE")


def of_processes(watched: Idle) -> list[Row]:
    """Return the memory of the watched processes that is in memory now. Raises KlocError."""
    mapped = [
        (process.pid, watched.last[number], mappings)
        for number, process in enumerate(watched.processes)
        if number in watched.last and (mappings := _resident(process.pid))
    ]
    size = sum(resident for *_, mappings in mapped for _, _, resident in mappings)
    count = _Count(watched, size, KEPT_MAX)
    pieces: dict[int, dict[int, float]] = {}
    for pid, last, mappings in mapped:
        # The process may end at any time.
        with suppress(FileNotFoundError, ProcessLookupError):
            for frame, idle in _frames(pid, last, mappings, count):
                piece = pieces.setdefault(frame // count.frames, {})
                piece[frame] = min(idle, piece.get(frame, idle))
    with damon.path_of(kinds.FLAGS).open("rb", buffering=0) as file:
        for number, found in sorted(pieces.items()):
            count.add(file, number, found)
    return count.rows()


def of_memory(watched: Idle, ram: Ranges) -> list[Row]:
    """Return the memory of processes and of the page cache that is in `ram`. Raises KlocError."""
    count = _Count(watched, sum(end - start for start, end in ram), kinds.FRAMES_MAX)
    last = watched.last.get(None, LastAccess())
    with damon.path_of(kinds.FLAGS).open("rb", buffering=0) as file:
        for start, end in ram:
            first = -(-(start // kinds.PIECE_BYTES) // count.every) * count.every
            for piece in range(first, -(-end // kinds.PIECE_BYTES), count.every):
                low = max(start, piece * kinds.PIECE_BYTES)
                high = min(end, (piece + 1) * kinds.PIECE_BYTES)
                found = {
                    frame: idle
                    for begin, after, idle in count.idle(last, low, high)
                    for frame in range(begin // count.page, after // count.page)
                }
                # DAMON cannot check pages of hugetlb by their physical address.
                count.add(file, piece, found, left_out=kinds.HUGE)
    return count.rows()


def total(rows: Sequence[Row]) -> Row:
    """Return the sum of all rows, which has no kind."""
    idle = []
    for parts in zip(*(row.idle for row in rows), strict=True):
        known = [part for part in parts if part is not None]
        idle.append(sum(known) if len(known) == len(parts) else None)
    return Row("", False, sum(row.size for row in rows), tuple(idle))


class _Count:
    """Counts page frames by kind, page size and idle time.

    Of memory of a `size` in bytes with more than `most` page frames, every n-th piece of 2 MiB
    counts, n times.
    """

    def __init__(self, watched: Idle, size: int, most: int) -> None:
        self.page = page_bytes()
        self.frames = kinds.PIECE_BYTES // self.page
        self.every = max(1, -(-size // self.page // most))
        self._now = watched.now
        self._known = [watched.seconds >= threshold for threshold in THRESHOLDS]
        self._counts: dict[tuple[str, bool], list[int]] = {}

    def idle(self, last: LastAccess, start: int, end: int) -> Iterator[tuple[int, int, float]]:
        """Yield the parts of a range of addresses with their idle time; 0 if it is not known."""
        for low, high, accessed in last.between(start, end):
            yield low, high, 0.0 if accessed is None else self._now - accessed

    def add(self, file: BinaryIO, piece: int, found: IdleFrames, left_out: int = 0) -> None:
        """Add the frames of one piece of memory, but those with a flag of `left_out`."""
        first = piece * self.frames
        flags = kinds.flags_of(file, first, first + self.frames)
        huge = _is_huge(flags, self.frames)
        for frame, (kind, own) in enumerate(zip(kinds.each(flags), flags, strict=True), first):
            if frame in found and kind in KINDS and not own & left_out:
                counts = self._counts.setdefault((kind, huge), [0] * (1 + len(THRESHOLDS)))
                counts[0] += 1
                for place, threshold in enumerate(THRESHOLDS, 1):
                    counts[place] += found[frame] >= threshold

    def rows(self) -> list[Row]:
        """Return the counts, in the order of KINDS."""
        factor = self.page * self.every
        return [
            Row(
                kind,
                huge,
                counts[0] * factor,
                tuple(
                    count * factor if known else None
                    for count, known in zip(counts[1:], self._known, strict=True)
                ),
            )
            for kind in KINDS
            for huge in (False, True)
            if (counts := self._counts.get((kind, huge)))
        ]


def _frames(
    pid: int, last: LastAccess, mappings: Sequence[tuple[int, int, int]], count: _Count
) -> Iterator[tuple[int, float]]:
    """Yield the page frames of a process that count, with their idle times in seconds."""
    with (processes.PROC / str(pid) / "pagemap").open("rb", buffering=0) as file:
        for start, end, _ in mappings:
            for low, high, idle in count.idle(last, start, end):
                for entry in _entries(file, low // count.page, high // count.page):
                    frame = entry & FRAME
                    if entry & PRESENT and not frame:
                        raise KlocError(
                            "only root may know page frames of processes", damon.AS_ROOT
                        )
                    if entry & PRESENT and frame // count.frames % count.every == 0:
                        yield frame, idle


def _entries(file: BinaryIO, first: int, after: int) -> Iterator[int]:
    """Yield the entries of pagemap of the pages of a process from `first` on."""
    for low in range(first, after, ENTRIES):
        file.seek(low * ENTRY_BYTES)
        content = file.read((min(after, low + ENTRIES) - low) * ENTRY_BYTES)
        yield from array("Q", content[: len(content) // ENTRY_BYTES * ENTRY_BYTES])


def _resident(pid: int) -> list[tuple[int, int, int]]:
    """Return the mappings of a process that have memory: both ends, and bytes in memory.

    None if it has ended, or is a kernel thread.
    """
    found: list[tuple[int, int, int]] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        start = end = 0
        for line in (processes.PROC / str(pid) / "smaps").read_text().splitlines():
            if mapping := MAPPING.match(line):
                start, end = int(mapping[1], 16), int(mapping[2], 16)
            elif (resident := RESIDENT.match(line)) and int(resident[1]):
                found.append((start, end, int(resident[1]) << 10))
    return found


def _is_huge(flags: Sequence[int], frames: int) -> bool:
    """Return whether the frames of a piece are one compound page, or part of a larger one."""
    if len(flags) < frames or not flags[0] & (kinds.HEAD | kinds.TAIL):
        return False
    return all(one & kinds.TAIL for one in flags[1:])
