# SPDX-License-Identifier: GPL-2.0
"""A made-up record of a heat map: what moves in it is known."""

from __future__ import annotations

from typing import Any

from kloc.heat.records import Kinds, Memory, Process, Record, Region, Snapshot
from kloc.schemes.sysfs import Attributes

MIB = 1 << 20

HEAP, STACK = 16 * MIB, 1 << 40
"""Where the two parts of the process begin; each has 8 MiB."""


def record(**changes: Any) -> Record:
    """Return the record of a process whose hot MiB moves up in its heap, one each second.

    The stack's upper half is accessed in half of the samples. A snapshot is taken each second.
    """
    settings: dict[str, Any] = {
        "title": "process 12 (made-up)",
        "kernel": "6.12.0",
        "attributes": Attributes(50_000, 1_000_000, 1_000_000),
        "seconds": 8.0,
        "snapshots": tuple(Snapshot(second + 1.0, 0, _regions(second)) for second in range(8)),
        "processes": (Process(12, "made-up", ((HEAP, HEAP + 8 * MIB), (STACK, STACK + 8 * MIB))),),
    }
    return Record(**{**settings, **changes})


def physical(**changes: Any) -> Record:
    """Return a record of physical memory with two tiers; only the fast one is accessed."""
    memory = (Memory(0, 16 * MIB, 0, "fast"), Memory(16 * MIB, 64 * MIB, 1, "slow"))
    regions = ((0, 16 * MIB, 20), (16 * MIB, 64 * MIB, 0))
    snapshots = tuple(Snapshot(second + 1.0, None, regions) for second in range(8))
    settings: dict[str, Any] = {
        "title": "physical memory",
        "processes": (),
        "memory": memory,
        "snapshots": snapshots,
    }
    return record(**{**settings, **changes})


def with_kinds(**changes: Any) -> Record:
    """Return the record of `physical` with kinds of pages, which are known up to 48 MiB.

    Anonymous pages and page cache share fast memory; slow memory has slab, then free pages.
    """
    kinds = (
        Kinds(0, 8 * MIB, {"anonymous": 2000, "page tables": 48}),
        Kinds(8 * MIB, 16 * MIB, {"anonymous": 48, "file": 1900, "shared": 90, "other": 10}),
        Kinds(16 * MIB, 32 * MIB, {"slab": 4000, "free": 96}),
        Kinds(32 * MIB, 48 * MIB, {"free": 4096}),
    )
    return physical(**{"kinds": kinds, **changes})


def _regions(second: int) -> tuple[Region, ...]:
    heap = [
        (HEAP + number * MIB, HEAP + (number + 1) * MIB, 20 if number == second else 0)
        for number in range(8)
    ]
    return (*heap, (STACK, STACK + 4 * MIB, 0), (STACK + 4 * MIB, STACK + 8 * MIB, 10))
