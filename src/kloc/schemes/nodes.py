# SPDX-License-Identifier: GPL-2.0
"""The nodes that schemes name: which nodes are fast or slow, and which addresses they have.

DAMON decides for all regions of a kdamond together which are the hottest or coldest. So a scheme
for the memory of one node has a kdamond of its own, which monitors that node.

The ranges of nodes are those of their zones in /proc/zoneinfo, to the page. Memory blocks in
/sys/devices/system/node are larger than that: one of 128 MiB can be in two nodes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kloc.base.errors import KlocError
from kloc.schemes import damon
from kloc.schemes.scheme import TIERS, Node, Scheme
from kloc.schemes.sysfs import Part, Physical, Target

ZONEINFO = "/proc/zoneinfo"
MEMORY_TIERS = "/sys/devices/virtual/memory_tiering"
NODES = "/sys/devices/system/node"

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Nodes:
    """The nodes of each tier by its name, and the distance from one node to another."""

    tiers: Mapping[str, Sequence[int]]
    distances: Mapping[tuple[int, int], int]

    def of(self, place: Node) -> Sequence[int]:
        """Return the nodes of a tier, or the node itself. Raises KlocError for an unknown tier."""
        if isinstance(place, int):
            return [place]
        if place not in self.tiers:
            raise KlocError(
                f"this system has no {place} memory: the kernel has put all nodes into one tier",
                f"name nodes by their numbers, such as from=1 node=0; {MEMORY_TIERS} has the tiers",
            )
        return self.tiers[place]

    def nearest(self, source: int, place: Node) -> int:
        """Return the node of a tier that is the nearest to a node."""
        return min(self.of(place), key=lambda node: (self.distances.get((source, node), 0), node))


def placed(schemes: Sequence[Scheme], nodes: Nodes) -> list[tuple[int | None, list[Scheme]]]:
    """Return the schemes of each node that is to be monitored, None for all memory, in order.

    The schemes name nodes by their numbers; a migration is to the nearest one of a tier. Raises
    KlocError if a tier is unknown, or if all memory is to move to a tier of several nodes.
    """
    found: dict[int | None, list[Scheme]] = {}
    for one in schemes:
        if one.source is None:
            found.setdefault(None, []).append(replace(one, node=_only(one.node, nodes)))
            continue
        for source in nodes.of(one.source):
            node = None if one.node is None else nodes.nearest(source, one.node)
            found.setdefault(source, []).append(replace(one, source=source, node=node))
    return list(found.items()) or [(None, [])]


def parts(schemes: Sequence[Scheme], target: Target) -> list[Part]:
    """Return what each kdamond of this system does, so that the schemes run on the target.

    Raises KlocError like `placed`, and if a node has no memory.
    """
    if not isinstance(target, Physical):
        return [(target, schemes)]
    return [
        (target if node is None else of_node(node, target.ranges), ran)
        for node, ran in placed(schemes, of_system())
    ]


def of_node(node: int, ram: Ranges) -> Physical:
    """Return the part of `ram` that is in a node of this system. Raises KlocError without any."""
    zoneinfo = damon.path_of(ZONEINFO).read_text()
    found = within(node, ram, zoneinfo, os.sysconf("SC_PAGESIZE"))
    if not found:
        raise KlocError(f"node {node} has no memory", f"numactl -H, or {NODES}, lists the nodes")
    return Physical(tuple(found))


def within(node: int, ram: Ranges, zoneinfo: str, page: int) -> list[tuple[int, int]]:
    """Return the ranges of `ram` in a node, given the content of /proc/zoneinfo."""
    return sorted(
        (max(start, low), min(end, high))
        for start, end in ram
        for number, low, high in zones(zoneinfo, page)
        if number == node and max(start, low) < min(end, high)
    )


def of_system() -> Nodes:
    """Return the nodes of the running system."""
    lists = [listed(nodes) for nodes in node_lists() if nodes]
    tiers = dict(zip(TIERS, (lists[0], lists[-1]), strict=True)) if len(lists) > 1 else {}
    distances: dict[tuple[int, int], int] = {}
    folders = damon.path_of(NODES).glob("node[0-9]*")
    online = sorted(int(folder.name.removeprefix("node")) for folder in folders)
    for node in online:
        row = (damon.path_of(NODES) / f"node{node}" / "distance").read_text().split()
        distances |= {(node, other): int(far) for other, far in zip(online, row, strict=False)}
    return Nodes(tiers, distances)


def node_lists() -> list[str]:
    """Return the nodes of each tier, fastest first, as the kernel lists them: 0-1,3."""
    folders = damon.path_of(MEMORY_TIERS).glob("memory_tier[0-9]*")
    ordered = sorted(folders, key=lambda one: int(re.sub(r"\D", "", one.name)))
    return [(folder / "nodelist").read_text().strip() for folder in ordered]


def listed(text: str) -> list[int]:
    """Return the nodes of a list such as 0-1,3."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def zones(zoneinfo: str, page: int) -> list[tuple[int, int, int]]:
    """Return node, first address and the address after the last one of each zone with memory."""
    texts = re.split(r"^Node (\d+), zone.*\n", zoneinfo, flags=re.M)[1:]
    found = []
    for node, text in zip(texts[::2], texts[1::2], strict=True):
        spanned = re.search(r"^\s+spanned\s+(\d+)$", text, re.M)
        start = re.search(r"^\s+start_pfn:\s+(\d+)$", text, re.M)
        if spanned and start and int(spanned[1]):
            first = int(start[1])
            found.append((int(node), first * page, (first + int(spanned[1])) * page))
    return found


def _only(place: Node | None, nodes: Nodes) -> int | None:
    if place is None:
        return None
    found = nodes.of(place)
    if len(found) > 1:
        raise KlocError(
            f"{place} memory has several nodes, {', '.join(map(str, found))}",
            "name the memory to move with from=, so that it moves to the nearest node, or a number",
        )
    return found[0]
