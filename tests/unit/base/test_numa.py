# SPDX-License-Identifier: GPL-2.0
"""Nodes of memory: addresses, zones and blocks, from the kernel's files."""

from __future__ import annotations

import pytest

from kloc.base import numa
from kloc.base.numa import Blocks
from support.made_up_nodes import ZONES

PAGE = 4096
MIB, GIB = 1 << 20, 1 << 30

CXL = """\
00001000-0009ffff : System RAM
000a0000-000bffff : PCI Bus
100000000-27fffffff : System RAM
  100000000-1000fffff : Kernel code
280000000-37fffffff : CXL Window 0
  280000000-37fffffff : region0
    280000000-37fffffff : dax0.0
      280000000-37fffffff : System RAM (kmem)
"""

VIRTIO_MEM = """\
100000000-13fffffff : System RAM
140000000-33fffffff : virtio0
  140000000-17fffffff : System RAM (virtio_mem)
  200000000-23fffffff : System RAM (virtio_mem)
"""

# A window that the firmware has already brought online, and persistent memory used as memory.
FIRMWARE = """\
100000000-27fffffff : CXL Window 0
  100000000-1ffffffff : System RAM
    180000000-18fffffff : Crash kernel
      180000000-18fffffff : System RAM
300000000-3ffffffff : Persistent Memory
  300000000-3ffffffff : namespace0.0
    300000000-3ffffffff : dax1.0
      310000000-3ffffffff : System RAM (kmem)
400000000-4ffffffff : System RAM
500000000-5ffffffff : System RAM
700000000-7ffffffff : System RAM (boot alias)
"""


@pytest.mark.parametrize(
    ("iomem", "ranges"),
    [
        (CXL, [(0x1000, 0xA0000), (0x100000000, 0x380000000)]),
        (
            VIRTIO_MEM,
            [(0x100000000, 0x180000000), (0x200000000, 0x240000000)],
        ),
        (
            FIRMWARE,
            [
                (0x100000000, 0x200000000),
                (0x310000000, 0x400000000 + 2 * 0x100000000),
            ],
        ),
        ("00000000-00000000 : System RAM\n", []),
        ("", []),
    ],
    ids=["cxl", "virtio-mem", "firmware", "not-root", "empty"],
)
def test_memory_that_a_driver_brought_online_is_ram(
    iomem: str, ranges: list[tuple[int, int]]
) -> None:
    assert numa.ram(iomem) == ranges


def test_nodes_have_the_ram_of_their_zones_to_the_page() -> None:
    ram = ((0x1000, 0x1800000), (0x1900000, 0x5000000))
    assert numa.owned(ram, ZONES, PAGE) == [
        (0, 0x1000, 0x1800000),
        (0, 0x1900000, 0x2000000),
        (1, 0x2000000, 0x4000000),
    ]
    (first, *_) = numa.zones(ZONES)
    assert (first.node, first.name, first.managed) == (0, "DMA", 3840)


def zoneinfo(*zones: tuple[int, int, int]) -> str:
    """Return the content of /proc/zoneinfo: nodes, and the ends of a zone of each in MiB."""
    return "".join(
        f"Node {node}, zone   Normal\n"
        f"        spanned  {(end - start) * MIB // PAGE}\n"
        f"  start_pfn:           {start * MIB // PAGE}\n"
        for node, start, end in zones
    )


def owned(info: str, blocks: Blocks = numa.NO_BLOCKS) -> list[tuple[int, int, int]]:
    """Return the node and the ends in MiB of each part of 4 GiB."""
    found = numa.owned(((0, 4 * GIB),), info, PAGE, blocks)
    return [(node, start // MIB, end // MIB) for node, start, end in found]


def test_memory_of_a_node_between_that_of_another_is_its_own() -> None:
    between = [(0, 0, 1024), (1, 1024, 2048), (0, 2048, 4096)]
    assert owned(zoneinfo((0, 0, 4096), (1, 1024, 2048))) == between
    assert owned(zoneinfo((1, 1024, 2048), (0, 0, 4096))) == between
    # Both begin at the same address.
    assert owned(zoneinfo((0, 0, 4096), (1, 0, 2048))) == [(1, 0, 2048), (0, 2048, 4096)]


def test_blocks_say_whose_memory_is_where_zones_overlap() -> None:
    # Nodes 0 and 1 by turns, in blocks of 1 GiB; the zone of each spans the other's memory.
    info = zoneinfo((0, 0, 3072), (1, 1024, 4096))
    turns = Blocks(GIB, {0: [0], 1: [1], 2: [0], 3: [1]})
    assert owned(info, turns) == [(0, 0, 1024), (1, 1024, 2048), (0, 2048, 3072), (1, 3072, 4096)]
    # A hole, which no node has, and a block with the boundary in it.
    info = zoneinfo((0, 0, 4096), (1, 1536, 4096))
    shared = Blocks(GIB, {0: [0], 1: [0, 1], 3: [1]})
    assert owned(info, shared) == [(0, 0, 1536), (1, 1536, 2048), (1, 3072, 4096)]


def test_zones_of_one_node_may_overlap() -> None:
    info = zoneinfo((0, 0, 4096), (0, 1024, 2048))
    assert owned(info, Blocks(GIB, {0: [0], 1: [0], 2: [0], 3: [0]})) == [(0, 0, 4096)]


def test_lists_of_nodes_are_read() -> None:
    assert numa.listed("0-2,5\n") == [0, 1, 2, 5]
    assert numa.listed("\n") == []


@pytest.mark.parametrize(
    ("tiers", "with_cpus", "found"),
    [
        ([[0, 1], [2]], [0, 1], ([0, 1], [2])),
        # All tiers below that of the CPUs are slow.
        ([[0, 1], [2], [3]], [0, 1], ([0, 1], [2, 3])),
        # HBM above it takes no part.
        ([[1], [0], [2]], [0], ([0], [2])),
        # If nothing is below the CPUs, or these are unknown, the highest tier is fast.
        ([[1], [0]], [0], ([1], [0])),
        ([[0], [1], [2]], [], ([0], [1, 2])),
        ([[0, 1]], [0, 1], None),
        ([], [0], None),
    ],
)
def test_fast_memory_is_the_tier_of_the_cpus(
    tiers: list[list[int]], with_cpus: list[int], found: tuple[list[int], list[int]] | None
) -> None:
    assert numa.fast_and_slow(tiers, with_cpus) == found
