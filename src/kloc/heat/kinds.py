# SPDX-License-Identifier: GPL-2.0
"""Counts pages of physical memory by kind, from the flags of page frames in /proc/kpageflags.

The flags are described in include/uapi/linux/kernel-page-flags.h and
Documentation/admin-guide/mm/pagemap.rst. CONFIG_PROC_PAGE_MONITOR provides the file; reading it
needs root.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import BinaryIO

from kloc.heat.records import Kinds, Memory
from kloc.schemes import damon

FLAGS = "/proc/kpageflags"

FLAGS_BYTES = 8
"""The size of a page frame's flags."""

KINDS = {
    "anonymous": "A",
    "file": "F",
    "shared": "M",
    "slab": "S",
    "page tables": "P",
    "free": "-",
    "other": "O",
}
"""The kinds of pages, with their letters.

"other" is reserved memory, and pages without flags: the kernel's stacks, vmalloc and buffers, and
free pages on the lists of processors.
"""

BINS = 256
"""About how many bins a record has."""

PIECE_BYTES = 2 << 20
"""The alignment of bins, and the unit of reading: the size of a huge page on x86."""

FRAMES_MAX = 1 << 22
"""Memory with more page frames is sampled: 16 GiB of 4-KiB pages are read in about a second."""

LRU, SLAB, BUDDY, MMAP, ANON, SWAPBACKED, HEAD, TAIL, HUGE, NOPAGE, PGTABLE, RESERVED = (
    1 << bit for bit in (5, 7, 10, 11, 12, 14, 15, 16, 17, 20, 26, 32)
)
"""The flags that tell the kinds apart, KPF_* in kernel-page-flags.h.

HEAD and TAIL are KPF_COMPOUND_HEAD and KPF_COMPOUND_TAIL, HUGE is hugetlb's.
"""


@cache
def kind_of(flags: int) -> str:
    """Return the kind of a page with these flags, "" if the frame has no page."""
    if flags & NOPAGE:
        return ""
    for flag, kind in ((BUDDY, "free"), (SLAB, "slab"), (PGTABLE, "page tables")):
        if flags & flag:
            return kind
    if flags & RESERVED:
        return "other"
    if flags & ANON:
        return "anonymous"
    if flags & HUGE:
        # An unused page of hugetlb's pool is mapped by nobody.
        return "shared" if flags & MMAP else "other"
    if flags & (LRU | MMAP):
        return "shared" if flags & SWAPBACKED else "file"
    return "other"


def bins(memory: Sequence[Memory]) -> Iterator[tuple[int, int]]:
    """Yield the first address of each bin, and the one after its last: about BINS of equal size.

    Bins end at the ends of the ranges in `memory`, and at multiples of their size.
    """
    pieces = -(-sum(one.end - one.start for one in memory) // (BINS * PIECE_BYTES))
    step = max(1, pieces) * PIECE_BYTES
    for one in memory:
        start = one.start
        while start < one.end:
            end = min(one.end, (start // step + 1) * step)
            yield start, end
            start = end


def counted(file: BinaryIO, memory: Sequence[Memory], page: int) -> tuple[Kinds, ...]:
    """Return the pages of `memory` by kind; bins without pages are left out.

    `file` has the content of /proc/kpageflags, `page` is the size of a page. Of memory with more
    than FRAMES_MAX page frames, every n-th piece is read. Raises OSError.
    """
    frames = sum(one.end - one.start for one in memory) // page
    every = max(1, -(-frames // FRAMES_MAX))
    found = []
    for start, end in bins(memory):
        pages = dict.fromkeys(("", *KINDS), 0)
        for low in range(start, end, every * PIECE_BYTES):
            for kind in each(flags_of(file, low // page, min(end, low + PIECE_BYTES) // page)):
                pages[kind] += 1
        pages = {kind: count for kind, count in pages.items() if kind and count}
        if pages:
            found.append(Kinds(start, end, pages))
    return tuple(found)


def of_system(memory: Sequence[Memory]) -> tuple[Kinds, ...]:
    """Return the running system's pages of `memory` by kind, none if the flags cannot be read."""
    with suppress(OSError), damon.path_of(FLAGS).open("rb", buffering=0) as file:
        return counted(file, memory, os.sysconf("SC_PAGESIZE"))
    return ()


def between(kinds: Sequence[Kinds], start: int, end: int) -> dict[str, float]:
    """Return the pages between two addresses by kind.

    The pages of a bin that is only partly between them count in proportion.
    """
    found = dict.fromkeys(KINDS, 0.0)
    for one in kinds:
        share = (min(end, one.end) - max(start, one.start)) / (one.end - one.start)
        if share <= 0:
            continue
        for kind, count in one.pages.items():
            # A later version may have more kinds.
            if kind in found:
                found[kind] += share * count
    return {kind: count for kind, count in found.items() if count}


def rows(kinds: Sequence[Kinds], ends: tuple[int, int], count: int) -> list[str]:
    """Return the most frequent kind of each of `count` equal parts of the addresses between `ends`.

    The lowest part comes first; a part without counted pages has "".
    """
    start, size = ends[0], ends[1] - ends[0]
    edges = [start + size * number // count for number in range(count + 1)]
    found = []
    for low, high in pairwise(edges):
        pages = between(kinds, low, high)
        found.append(max(pages, key=pages.__getitem__, default=""))
    return found


def shares(kinds: Sequence[Kinds], ends: tuple[int, int] | None = None) -> dict[str, float]:
    """Return the share of each kind in all pages, or in those between two addresses, 0 to 1."""
    start, end = ends or (0, max((one.end for one in kinds), default=0))
    pages = between(kinds, start, end)
    whole = sum(pages.values())
    return {kind: count / whole for kind, count in pages.items()}


def flags_of(file: BinaryIO, first: int, after: int) -> array[int]:
    """Return the flags of page frames from `first` on; fewer at the end of the file."""
    file.seek(first * FLAGS_BYTES)
    content = file.read((after - first) * FLAGS_BYTES)
    return array("Q", content[: len(content) // FLAGS_BYTES * FLAGS_BYTES])


def each(frames: Sequence[int]) -> Iterator[str]:
    """Yield the kind of each of the page frames, which follow each other, by their flags."""
    kind = ""
    for flags in frames:
        # Older kernels leave most flags out of the tails of a compound page.
        if not (kind and flags & TAIL):
            kind = kind_of(flags)
        yield kind
