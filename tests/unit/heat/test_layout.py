# SPDX-License-Identifier: GPL-2.0
"""Which parts of the address space a map shows."""

from __future__ import annotations

import pytest

from kloc.heat import grid, layout
from kloc.heat.records import Memory, Process, Record, Snapshot
from support import made_up_heat
from support.made_up_heat import HEAP, MIB, STACK


def ends(record: Record, most: int = 3) -> list[tuple[int, int, int]]:
    parts = layout.parts(record, grid.regions(record), most)
    return [(part.target, part.start, part.end) for part in parts]


def test_large_gaps_are_cut_out() -> None:
    parts = [(0, HEAP, HEAP + 8 * MIB), (0, STACK, STACK + 8 * MIB)]
    record = made_up_heat.record()
    assert ends(record) == parts
    # The same from the monitored regions, if nobody could read what is mapped.
    assert ends(made_up_heat.record(processes=(Process(12, "made-up"),))) == parts


def test_small_gaps_are_kept() -> None:
    gap = MIB // 2
    mapped = ((HEAP, HEAP + 8 * MIB), (HEAP + 8 * MIB + gap, HEAP + 12 * MIB))
    record = made_up_heat.record(processes=(Process(12, "made-up", mapped),))
    assert ends(record) == [(0, HEAP, HEAP + 12 * MIB)]


def test_addresses_that_are_not_mapped_are_not_shown() -> None:
    # DAMON monitors the small gaps, too.
    mapped = ((HEAP, HEAP + MIB), (HEAP + 7 * MIB, HEAP + 8 * MIB))
    record = made_up_heat.record(processes=(Process(12, "made-up", mapped),))
    assert ends(record) == [(0, start, end) for start, end in mapped]


def test_the_hottest_parts_are_shown_by_address() -> None:
    # 16 MiB are accessed in the stack, 8 in the heap.
    assert ends(made_up_heat.record(), most=1) == [(0, STACK, STACK + 8 * MIB)]
    cold = Snapshot(1.0, 1, ((0, 32 * MIB, 0),))
    record = made_up_heat.record()
    several = made_up_heat.record(
        snapshots=(*record.snapshots, cold),
        processes=(*record.processes, Process(13, "cold", ((0, 32 * MIB),))),
    )
    assert ends(several, most=2) == ends(record)
    assert ends(several, most=3)[-1] == (1, 0, 32 * MIB)


def test_physical_memory_is_shown_by_node_and_tier() -> None:
    memory = (
        Memory(4096, 640 << 10, 0, "fast"),
        Memory(MIB, 16 * MIB, 0, "fast"),
        Memory(16 * MIB, 64 * MIB, 1, "slow"),
        Memory(4096 * MIB, 4128 * MIB, 1, "slow"),
    )
    record = made_up_heat.physical(memory=memory)
    parts = layout.parts(record, grid.regions(record), 1)
    assert [part.title() for part in parts] == [
        "node 0, fast 1000-1000000, 16 MiB",
        "node 1, slow 1000000-4000000, 48 MiB",
        "node 1, slow 100000000-102000000, 32 MiB",
    ]
    (alone,) = layout.parts(
        made_up_heat.physical(memory=(Memory(0, MIB, 0),)), grid.regions(record), 1
    )
    assert alone.name == "node 0"


def test_rows_are_by_size_but_never_none() -> None:
    assert layout.rows([30, 10], 20) == [15, 5]
    assert layout.rows([1000, 1], 20) == [20, layout.ROWS_MIN]


@pytest.mark.parametrize(
    ("size", "text"),
    [(512, "512 B"), (1536, "1.5 KiB"), (1023 << 10, "1023 KiB"), (3 << 40, "3 TiB")],
)
def test_sizes_have_three_digits(size: int, text: str) -> None:
    assert layout.size_text(size) == text
