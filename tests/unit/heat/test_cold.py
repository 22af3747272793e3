# SPDX-License-Identifier: GPL-2.0
"""Memory that was not accessed, by kind and page size, from made-up files of /proc."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.heat import cold, kinds
from kloc.heat.cold import Row
from kloc.heat.idle import LastAccess
from kloc.heat.records import Process
from support import fake_pages
from support.fake_pages import ANONYMOUS, BUDDY, FILE, HUGETLB, MMAP, PAGE, PIECE, SHARED, SLAB

NOW = 150.0


def watched(
    last: dict[int | None, list[tuple[int, int, float]]], *pids: int, seconds: float = NOW
) -> Any:
    """Return an observation whose last accesses are given by page: first, after the last, time."""
    found: dict[int | None, LastAccess] = {}
    for number, segments in last.items():
        found[number] = LastAccess()
        found[number].segments = [(low * PAGE, high * PAGE, time) for low, high, time in segments]
    own = [Process(pid, "") for pid in pids]
    return SimpleNamespace(last=found, processes=own, now=NOW, seconds=seconds)


@pytest.fixture
def pages(monkeypatch: Any, tmp_path: Path) -> fake_pages.FakePages:
    return fake_pages.install(monkeypatch, tmp_path)


def rows(*expected: tuple[str, bool, int, tuple[int | None, ...]]) -> list[Row]:
    """Return rows whose sizes are in pages."""
    return [
        Row(kind, huge, size * PAGE, tuple(None if one is None else one * PAGE for one in idle))
        for kind, huge, size, idle in expected
    ]


def test_pages_of_a_process_count_by_kind_and_idle_time(pages: fake_pages.FakePages) -> None:
    pages.set_flags([SLAB, *[ANONYMOUS] * 40, *[FILE] * 10, *[SHARED] * 5, *[0] * 9])
    # Pages 8 and 9 are swapped out; 64 to 66 are device memory, or the zero page.
    pages.add_process(7, {4: [1, 2, 3, 4, None, None, 5], 20: range(41, 56), 64: [60, 61, 62]})
    last = [(4, 6, 148.0), (6, 8, 135.0), (8, 40, 100.0), (40, 70, 0.0)]
    found = cold.of_processes(watched({0: last}, 7))
    assert found == rows(
        ("anonymous", False, 5, (3, 1, 0)),
        ("file", False, 10, (10, 10, 0)),
        ("shared", False, 5, (5, 5, 0)),
    )
    assert cold.total(found) == rows(("", False, 20, (18, 16, 0)))[0]


def test_huge_pages_are_told_from_others(pages: fake_pages.FakePages) -> None:
    compound = [ANONYMOUS | fake_pages.HEAD, *[ANONYMOUS | fake_pages.TAIL] * 3]
    pages.set_flags([*[0] * PIECE, *fake_pages.huge(ANONYMOUS), *compound * (PIECE // 4)])
    pages.add_process(7, {0: range(PIECE, 3 * PIECE)})
    found = cold.of_processes(watched({0: [(0, 2 * PIECE, 0.0)]}, 7))
    # A compound page of 16 KiB is none of 2 MiB.
    assert found == rows(
        ("anonymous", False, PIECE, (PIECE,) * 3), ("anonymous", True, PIECE, (PIECE,) * 3)
    )


def test_tails_of_a_huge_page_without_flags_are_of_the_kind_of_its_head(
    pages: fake_pages.FakePages,
) -> None:
    pages.set_flags([*[0] * PIECE, SHARED | fake_pages.HEAD, *[fake_pages.TAIL] * (PIECE - 1)])
    pages.add_process(7, {0: range(PIECE, 2 * PIECE)})
    (row,) = cold.of_processes(watched({0: [(0, PIECE, 0.0)]}, 7))
    assert (row.kind, row.huge, row.size) == ("shared", True, kinds.PIECE_BYTES)


def test_a_shared_page_is_idle_only_if_no_process_accessed_it(
    pages: fake_pages.FakePages,
) -> None:
    pages.set_flags([SHARED] * 5)
    pages.add_process(7, {0: [1, 2, 3]})
    pages.add_process(8, {100: [2, 3, 4]})
    last = {0: [(0, 3, 0.0)], 1: [(100, 101, 145.0), (101, 103, 0.0)]}
    found = cold.of_processes(watched(dict(last), 7, 8))
    assert found == rows(("shared", False, 4, (3, 3, 3)))


def test_memory_that_was_not_monitored_is_not_idle(pages: fake_pages.FakePages) -> None:
    pages.set_flags([ANONYMOUS] * 9)
    pages.add_process(7, {0: range(1, 9)})
    found = cold.of_processes(watched({0: [(2, 4, 0.0)]}, 7))
    assert found == rows(("anonymous", False, 8, (2, 2, 2)))


def test_what_was_not_observed_for_a_threshold_has_no_figure(pages: fake_pages.FakePages) -> None:
    pages.set_flags([ANONYMOUS] * 2)
    pages.add_process(7, {0: [1]})
    found = cold.of_processes(watched({0: [(0, 1, 120.0)]}, 7, seconds=30.0))
    assert found == rows(("anonymous", False, 1, (1, 1, None)))
    assert cold.total(found).idle == (PAGE, PAGE, None)


def test_processes_that_have_ended_have_no_memory(pages: fake_pages.FakePages) -> None:
    pages.set_flags([ANONYMOUS])
    assert cold.of_processes(watched({0: [(0, 1, 0.0)]}, 7)) == []


def test_hidden_page_frames_are_an_error(pages: fake_pages.FakePages) -> None:
    pages.set_flags([ANONYMOUS])
    pages.add_process(7, {0: [0]})
    (pages.proc / "7" / "pagemap").write_bytes(fake_pages.PRESENT.to_bytes(8, "little"))
    with pytest.raises(KlocError, match="only root may know page frames"):
        cold.of_processes(watched({0: [(0, 1, 0.0)]}, 7))


def test_all_memory_counts_what_processes_and_files_have(pages: fake_pages.FakePages) -> None:
    hugetlb = [flag | HUGETLB | MMAP for flag in fake_pages.huge(0)]
    first = [*[ANONYMOUS] * 100, *[SLAB] * 100, *[BUDDY] * 212, *[FILE] * 100]
    pages.set_flags([*first, *fake_pages.huge(SHARED), *hugetlb, *[ANONYMOUS] * 10])
    last = [(0, 50, 149.0), (50, 4 * PIECE, 0.0)]
    # The last 4 frames are no RAM.
    ram = [(0, PIECE * PAGE), (PIECE * PAGE, (3 * PIECE + 6) * PAGE)]
    assert cold.of_memory(watched({None: last}), ram) == rows(
        ("anonymous", False, 106, (56,) * 3),
        ("file", False, 100, (100,) * 3),
        ("shared", True, PIECE, (PIECE,) * 3),
    )


def test_large_memory_is_sampled(pages: fake_pages.FakePages, monkeypatch: Any) -> None:
    monkeypatch.setattr(kinds, "FRAMES_MAX", 2 * PIECE)
    monkeypatch.setattr(cold, "KEPT_MAX", 2 * PIECE)
    pages.set_flags([*[ANONYMOUS] * (2 * PIECE), *[FILE] * (2 * PIECE)])
    found = cold.of_memory(watched({None: [(0, 4 * PIECE, 0.0)]}), [(0, 4 * PIECE * PAGE)])
    assert [(row.kind, row.size) for row in found] == [
        ("anonymous", 2 * PIECE * PAGE),
        ("file", 2 * PIECE * PAGE),
    ]
    # Frame 0 is of no process; it would have counted twice.
    pages.add_process(7, {0: range(1, 4 * PIECE)})
    found = cold.of_processes(watched({0: [(0, 4 * PIECE, 0.0)]}, 7))
    assert [(row.kind, row.size) for row in found] == [
        ("anonymous", (2 * PIECE - 2) * PAGE),
        ("file", 2 * PIECE * PAGE),
    ]


def test_a_kernel_without_flags_of_pages_is_refused(pages: fake_pages.FakePages) -> None:
    with pytest.raises(KlocError, match="/proc/kpageflags does not exist"):
        cold.check()
    pages.set_flags([])
    cold.check()
