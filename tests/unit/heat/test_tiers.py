# SPDX-License-Identifier: GPL-2.0
"""Nodes and tiers of physical memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kloc.base import numa
from kloc.heat import tiers
from kloc.heat.records import Memory
from kloc.schemes import damon, nodes

PAGE = 4096

ZONEINFO = """\
Node 0, zone      DMA
  per-node stats
      nr_inactive_anon 0
  pages free     3840
        spanned  4095
        present  3998
  start_pfn:           1
Node 0, zone    DMA32
  pages free     100
        spanned  49152
  start_pfn:           4096
Node 0, zone   Normal
  pages free     0
        spanned  0
Node 1, zone    DMA32
  pages free     300000
        spanned  327680
  start_pfn:           53248
"""

RAM = ((0x1000, 0x9F000), (0x1000000, 0x5D000000))


def test_ram_is_split_at_the_ends_of_nodes() -> None:
    assert tiers.memory(RAM, ZONEINFO, {0: "fast", 1: "slow"}, PAGE) == [
        Memory(0x1000, 0x9F000, 0, "fast"),
        Memory(0x1000000, 0xD000000, 0, "fast"),
        Memory(0xD000000, 0x5D000000, 1, "slow"),
    ]


def test_nodes_are_known_without_tiers() -> None:
    found = tiers.memory(RAM[1:], ZONEINFO, {}, PAGE)
    assert [(one.node, one.tier) for one in found] == [(0, ""), (1, "")]


def test_tiers_are_named_fastest_first() -> None:
    assert tiers.tier_names(["0-1,4", "2"]) == {0: "fast", 1: "fast", 4: "fast", 2: "slow"}
    assert tiers.tier_names(["0", "1", "2"]) == {0: "tier 1", 1: "tier 2", 2: "tier 3"}
    assert tiers.tier_names(["0-3"]) == {}
    assert tiers.tier_names(["0", ""]) == {}


def test_tiers_are_in_the_order_of_their_numbers(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    for name, listed in (("memory_tier108", "1"), ("memory_tier4", "0")):
        folder = tmp_path / numa.MEMORY_TIERS.lstrip("/") / name
        folder.mkdir(parents=True)
        (folder / "nodelist").write_text(f"{listed}\n")
    assert nodes.node_lists() == ["0", "1"]
