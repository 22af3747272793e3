# SPDX-License-Identifier: GPL-2.0
"""Made-up files of the nodes and tiers of memory, below a directory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from kloc.base import numa

GIB = 1 << 30
PAGE = 4096

ZONES = """\
Node 0, zone      DMA
        spanned  4095
        present  3998
        managed  3840
  start_pfn:           1
Node 0, zone   Normal
        spanned  4096
  start_pfn:           4096
Node 1, zone   Normal
        spanned  8192
  start_pfn:           8192
Node 1, zone  Movable
        spanned  0
"""
"""Lines of /proc/zoneinfo: one node with two zones, and one with an empty ZONE_MOVABLE."""


def make(
    root: Path,
    tiers: Sequence[Sequence[int]],
    cpus: str = "0",
    unreclaimable: Collection[int] = (),
) -> None:
    """Create the files of nodes of 1 GiB each, in order of address; `tiers` has the fastest first.

    `cpus` lists the nodes with CPUs, and kswapd of `unreclaimable` ones has given up. The distance
    between two nodes grows with their numbers.
    """
    nodes = sorted(node for tier in tiers for node in tier)
    for number, tier in enumerate(tiers):
        listed = ",".join(map(str, tier))
        write(root, f"{numa.MEMORY_TIERS}/memory_tier{4 + 100 * number}/nodelist", listed)
    for node in nodes:
        row = " ".join(str(10 * (1 + abs(node - other))) for other in nodes)
        write(root, f"{numa.NODES}/node{node}/distance", row)
    write(root, f"{numa.NODES}/has_cpu", cpus)
    online(root, nodes, unreclaimable)


def online(root: Path, nodes: Sequence[int], unreclaimable: Collection[int] = ()) -> None:
    """Let the memory of these nodes be online; those of odd numbers have ZONE_MOVABLE only."""
    zoneinfo, iomem = "", ""
    for node in nodes:
        zoneinfo += (
            f"Node {node}, zone {'Movable' if node % 2 else 'Normal':>8}\n"
            f"        spanned  {GIB // PAGE}\n"
            f"        managed  {GIB // PAGE}\n"
            f"  node_unreclaimable:  {int(node in unreclaimable)}\n"
            f"  start_pfn:           {(node + 1) * GIB // PAGE}\n"
        )
        addresses = f"{(node + 1) * GIB:08x}-{(node + 2) * GIB - 1:08x}"
        iomem += (
            f"{addresses} : CXL Window {node}\n  {addresses} : System RAM (kmem)\n"
            if node
            else f"{addresses} : System RAM\n"
        )
    write(root, numa.ZONEINFO, zoneinfo)
    write(root, "/proc/iomem", iomem)


def write(root: Path, path: str, text: str) -> None:
    """Write a file with its folders; `path` begins at `root`."""
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text.rstrip()}\n")
