# SPDX-License-Identifier: GPL-2.0
"""What the kernel's files say of nodes of memory: tiers, zones, blocks and addresses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from kloc.base.ranges import Ranges, joined

ZONEINFO = "/proc/zoneinfo"
BLOCK_SIZE = "/sys/devices/system/memory/block_size_bytes"
NODES = "/sys/devices/system/node"
MEMORY_TIERS = "/sys/devices/virtual/memory_tiering"

_RAM = re.compile(r"System RAM(?: \((?!boot alias).*\))?")
"""What the kernel calls memory in /proc/iomem; a driver that brought it online is in brackets.

The boot alias of 32-bit ARM is a second address of memory.
"""


@dataclass(frozen=True)
class Zone:
    """A zone of /proc/zoneinfo. `first` is a page frame, `spanned` counts frames, holes included.

    `managed` counts the pages that the kernel gives out. `unreclaimable` says of the node that
    kswapd has given up.
    """

    node: int
    name: str
    first: int
    spanned: int
    managed: int
    unreclaimable: bool = False


@dataclass(frozen=True)
class Blocks:
    """The blocks of memory that the kernel knows, of `size` bytes; block 0 is at address 0.

    `nodes` has the nodes of each block: two, if the boundary is inside.
    """

    size: int = 0
    nodes: Mapping[int, Sequence[int]] = field(default_factory=dict)


NO_BLOCKS = Blocks()
"""For a kernel without memory hotplug, which has no files of blocks."""


def zones(zoneinfo: str) -> list[Zone]:
    """Return the zones that span memory, given the content of /proc/zoneinfo."""
    texts = re.split(r"^Node (\d+), zone +(\S+).*\n", zoneinfo, flags=re.M)[1:]
    found = (
        Zone(
            int(node),
            name,
            _number(text, "start_pfn:"),
            _number(text, "spanned"),
            _number(text, "managed"),
            _number(text, "node_unreclaimable:") == 1,
        )
        for node, name, text in zip(texts[::3], texts[1::3], texts[2::3], strict=True)
    )
    return [zone for zone in found if zone.spanned]


def ram(iomem: str) -> list[tuple[int, int]]:
    """Return the ranges of memory in the content of /proc/iomem, in order.

    Memory that a driver brought online, such as that of CXL devices, is nested below the device.
    Without the right to see addresses, all of them are 0, and the result is empty.
    """
    found = []
    # The indentation of the memory that the lines belong to, if they do.
    outer: int | None = None
    for line in iomem.splitlines():
        addresses, _, name = line.partition(" : ")
        indent = len(line) - len(line.lstrip())
        if outer is not None and indent > outer:
            continue
        outer = None
        if _RAM.fullmatch(name.strip()):
            outer = indent
            start, _, end = addresses.strip().partition("-")
            found.append((int(start, 16), int(end, 16) + 1))
    return joined(sorted(one for one in found if one[1] > one[0] + 1))


def owned(
    ram: Ranges, zoneinfo: str, page: int, blocks: Blocks = NO_BLOCKS
) -> list[tuple[int, int, int]]:
    """Return node, first address and the one after the last of the parts of `ram`, in order.

    The parts do not overlap. They end where zones do, to the page of `page` bytes. Where zones of
    several nodes overlap, because the memory of one is between that of another, the nodes of
    `blocks` decide. If these do not, the memory belongs to the zone that begins last: the inner
    one.
    """
    spans = [
        (zone.first * page, (zone.first + zone.spanned) * page, zone.node)
        for zone in zones(zoneinfo)
    ]
    edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
    parts: list[tuple[int, int, int]] = []
    for low, high in pairwise(edges):
        inner: dict[int, tuple[int, int]] = {}
        for start, end, node in spans:
            if start <= low and high <= end:
                # Of zones that begin at the same address, the shorter one is the inner one.
                inner[node] = max(inner.get(node, (-1, 0)), (start, -end))
        parts += _split(low, high, inner, blocks)
    return sorted(
        (
            (node, max(start, low), min(end, high))
            for start, end in ram
            for node, low, high in _joined(parts)
            if max(start, low) < min(end, high)
        ),
        key=lambda one: one[1],
    )


def listed(text: str) -> list[int]:
    """Return the nodes of a list such as 0-1,3; of an empty one, none."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def fast_and_slow(
    tiers: Sequence[Sequence[int]], with_cpus: Collection[int]
) -> tuple[list[int], list[int]] | None:
    """Return the nodes of fast memory and those of all tiers below it, as mm/tiering has them.

    `tiers` has the nodes of each tier, fastest first. Fast memory is the lowest tier with a node
    with CPUs, or the highest one if nothing is below. The result is None if there is one tier.
    """
    if len(tiers) < 2:
        return None
    fast = max((at for at, tier in enumerate(tiers[:-1]) if set(tier) & set(with_cpus)), default=0)
    if set(tiers[-1]) & set(with_cpus):
        fast = 0
    return list(tiers[fast]), [node for tier in tiers[fast + 1 :] for node in tier]


def read_tiers(root: Path) -> list[str]:
    """Return the nodes of each tier, fastest first, as the kernel lists them: 0-1,3.

    `root` is the directory that the paths of files are relative to.
    """
    folders = (root / MEMORY_TIERS.lstrip("/")).glob("memory_tier[0-9]*")
    ordered = sorted(folders, key=lambda one: int(re.sub(r"\D", "", one.name)))
    return [(folder / "nodelist").read_text().strip() for folder in ordered]


def read_fast_and_slow(root: Path) -> tuple[list[int], list[int]] | None:
    """Return the result of `fast_and_slow` for the files below `root`."""
    tiers = [listed(nodes) for nodes in read_tiers(root) if nodes]
    has_cpu = root / NODES.lstrip("/") / "has_cpu"
    return fast_and_slow(tiers, listed(has_cpu.read_text()) if has_cpu.exists() else [])


def _split(
    low: int, high: int, inner: Mapping[int, tuple[int, int]], blocks: Blocks
) -> Iterator[tuple[int, int, int]]:
    """Yield the parts of a range of addresses like `owned`; `inner` has the nodes that span it."""
    if len(inner) < 2 or not blocks.nodes:
        if inner:
            yield max(inner, key=inner.__getitem__), low, high
        return
    while low < high:
        number = low // blocks.size
        end = min(high, (number + 1) * blocks.size)
        nodes = [node for node in blocks.nodes.get(number, ()) if node in inner]
        if nodes:
            yield max(nodes, key=inner.__getitem__), low, end
        low = end


def _joined(parts: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the parts, those of a node that follow each other without a gap as one."""
    found: list[tuple[int, int, int]] = []
    for node, start, end in parts:
        if found and (found[-1][0], found[-1][2]) == (node, start):
            found[-1] = (node, found[-1][1], end)
        else:
            found.append((node, start, end))
    return found


def _number(text: str, name: str) -> int:
    """Return the number behind a name in the part of /proc/zoneinfo on a zone, 0 without it."""
    found = re.search(rf"^\s+{name}\s+(\d+)$", text, re.M)
    return int(found[1]) if found else 0
