# SPDX-License-Identifier: GPL-2.0
"""Kinds of pages, from the flags of page frames."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kloc.heat import kinds
from kloc.heat.records import Kinds, Memory
from kloc.schemes import damon

PAGE = 4096

MIB = 1 << 20

# Bits of include/uapi/linux/kernel-page-flags.h.
LRU, SLAB, BUDDY, MMAP, ANON, SWAPBACKED = 1 << 5, 1 << 7, 1 << 10, 1 << 11, 1 << 12, 1 << 14
HEAD, TAIL, HUGE, NOPAGE, THP, PGTABLE = 1 << 15, 1 << 16, 1 << 17, 1 << 20, 1 << 22, 1 << 26
RESERVED, UPTODATE = 1 << 32, 1 << 3


def file_of(*frames: int) -> io.BytesIO:
    """Return a file with the flags of the first page frames."""
    return io.BytesIO(struct.pack(f"={len(frames)}Q", *frames))


def counted(*frames: int) -> dict[str, int]:
    """Return the kinds of the first page frames."""
    found = kinds.counted(file_of(*frames), [Memory(0, len(frames) * PAGE, 0)], PAGE)
    return found[0].pages if found else {}


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        (NOPAGE, ""),
        (BUDDY, "free"),
        (SLAB, "slab"),
        (PGTABLE, "page tables"),
        (UPTODATE | LRU | MMAP | ANON | SWAPBACKED, "anonymous"),
        (UPTODATE | ANON | SWAPBACKED, "anonymous"),
        (HEAD | THP | LRU | ANON | SWAPBACKED, "anonymous"),
        (UPTODATE | LRU, "file"),
        (UPTODATE | LRU | MMAP, "file"),
        (UPTODATE | MMAP, "file"),
        (UPTODATE | LRU | SWAPBACKED, "shared"),
        (HEAD | HUGE | ANON | MMAP, "anonymous"),
        (HEAD | HUGE | MMAP, "shared"),
        (HEAD | HUGE, "other"),
        (RESERVED, "other"),
        (RESERVED | MMAP, "other"),
        (0, "other"),
    ],
)
def test_flags_tell_the_kind(flags: int, kind: str) -> None:
    assert kinds.kind_of(flags) == kind
    assert not kind or kind in kinds.KINDS


def test_pages_are_counted_by_kind() -> None:
    frames = (LRU, LRU, ANON | LRU, SLAB, NOPAGE, BUDDY, 0)
    assert counted(*frames) == {"anonymous": 1, "file": 2, "slab": 1, "free": 1, "other": 1}
    assert counted(NOPAGE, NOPAGE) == {}


def test_a_tail_has_the_kind_of_its_head() -> None:
    # Older kernels have few flags for tails, and may have those that mislead.
    assert counted(HEAD | SLAB, TAIL, TAIL, LRU, TAIL | MMAP) == {"slab": 3, "file": 2}
    shared = LRU | SWAPBACKED | HEAD | THP
    assert counted(shared, TAIL | MMAP, 0) == {"shared": 2, "other": 1}


def test_a_tail_without_its_head_has_the_kind_of_its_own_flags() -> None:
    assert counted(TAIL | SLAB, NOPAGE, TAIL | ANON) == {"anonymous": 1, "slab": 1}


def test_bins_cover_memory_and_their_number_is_bounded() -> None:
    memory = (Memory(PAGE, MIB, 0), Memory(16 * MIB, 8192 * MIB, 0), Memory(1 << 40, 3 << 40, 1))
    found = list(kinds.bins(memory))
    assert sum(end - start for start, end in found) == sum(one.end - one.start for one in memory)
    assert kinds.BINS / 2 < len(found) <= kinds.BINS + 2 * len(memory)
    for start, end in found:
        assert any(one.start <= start < end <= one.end for one in memory)
    # A huge page is in one bin.
    inner = {end for _, end in found} - {one.end for one in memory}
    assert all(end % kinds.PIECE_BYTES == 0 for end in inner)
    assert len(list(kinds.bins((Memory(0, 3 * MIB, 0),)))) == 2
    assert list(kinds.bins(())) == []


def test_bins_are_read_where_their_memory_is() -> None:
    frames = [ANON] * 512 + [NOPAGE] * 512 + [LRU] * 512 + [SLAB] * 100
    memory = (Memory(0, 2 * MIB, 0), Memory(4 * MIB, 8 * MIB, 1))
    assert kinds.counted(file_of(*frames), memory, PAGE) == (
        Kinds(0, 2 * MIB, {"anonymous": 512}),
        Kinds(4 * MIB, 6 * MIB, {"file": 512}),
        # The file ends here.
        Kinds(6 * MIB, 8 * MIB, {"slab": 100}),
    )


def test_large_memory_is_sampled(monkeypatch: Any) -> None:
    monkeypatch.setattr(kinds, "FRAMES_MAX", 1024)
    monkeypatch.setattr(kinds, "BINS", 2)
    frames = ([ANON] * 512 + [LRU] * 512) * 4
    memory = (Memory(0, 16 * MIB, 0),)
    found = kinds.counted(file_of(*frames), memory, PAGE)
    assert found == (
        Kinds(0, 8 * MIB, {"anonymous": 512}),
        Kinds(8 * MIB, 16 * MIB, {"anonymous": 512}),
    )


@pytest.mark.parametrize("content", [None, b"", struct.pack("=3Q", ANON, LRU, LRU)])
def test_the_systems_file_is_read_if_there_is_one(
    content: bytes | None, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    (tmp_path / "proc").mkdir()
    if content is not None:
        (tmp_path / kinds.FLAGS.lstrip("/")).write_bytes(content)
    found = kinds.of_system([Memory(0, MIB, 0)])
    assert found == ((Kinds(0, MIB, {"anonymous": 1, "file": 2}),) if content else ())


def bins_of(*pages: dict[str, int]) -> Sequence[Kinds]:
    return [Kinds(number * MIB, (number + 1) * MIB, one) for number, one in enumerate(pages)]


def test_a_row_has_the_kind_of_most_of_its_pages() -> None:
    found = bins_of({"anonymous": 100, "file": 156}, {"anonymous": 200, "slab": 56}, {"free": 256})
    assert kinds.rows(found, (0, 4 * MIB), 4) == ["file", "anonymous", "free", ""]
    assert kinds.rows(found, (0, 4 * MIB), 2) == ["anonymous", "free"]
    # Bins may be larger than rows.
    assert kinds.rows(found, (0, MIB), 3) == ["file"] * 3


def test_a_bin_counts_in_proportion() -> None:
    found = bins_of({"anonymous": 200}, {"file": 100})
    assert kinds.between(found, MIB // 2, 3 * MIB) == {"anonymous": 100, "file": 100}
    assert kinds.shares(found) == {"anonymous": pytest.approx(2 / 3), "file": pytest.approx(1 / 3)}
    assert kinds.shares(found, (MIB, 2 * MIB)) == {"file": 1}
    assert kinds.shares([]) == {}


def test_kinds_of_later_versions_are_left_out() -> None:
    assert kinds.shares(bins_of({"anonymous": 1, "persistent": 9})) == {"anonymous": 1}
