# SPDX-License-Identifier: GPL-2.0
"""The nodes that schemes name: which nodes are fast or slow, and which addresses they have.

DAMON decides for all regions of a kdamond together which are the hottest or coldest. So a scheme
for the memory of one node has a kdamond of its own, which monitors that node.

The ranges of nodes are those of their zones in /proc/zoneinfo, to the page. Memory blocks in
/sys/devices/system/node are larger than that: one of 128 MiB can be in two nodes. They only decide
where the zones of two nodes overlap.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kloc.base import numa
from kloc.base.errors import KlocError
from kloc.base.numa import MEMORY_TIERS, NODES, Blocks
from kloc.base.ranges import Ranges
from kloc.schemes import cgroups, damon
from kloc.schemes.scheme import TIERS, Node, Scheme
from kloc.schemes.sysfs import Part, Physical, Target

UNKNOWN = 255
"""The distance of nodes between which the firmware knows no way."""


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

    def nearest(self, source: int, place: Node, rank: int = 0) -> int:
        """Return the node of a tier that is the nearest to a node.

        `rank` chooses among those that are equally near, so that several sources share them.
        """
        candidates = self.of(place)
        least = min(self.distance(source, node) for node in candidates)
        near = [node for node in candidates if self.distance(source, node) == least]
        return near[rank % len(near)]

    def distance(self, one: int, other: int) -> int:
        """Return the distance between two nodes, UNKNOWN if the firmware does not tell it.

        It may tell one direction only: none from a node without processors.
        """
        both = (self.distances.get(pair, UNKNOWN) for pair in ((one, other), (other, one)))
        return next((far for far in both if far != UNKNOWN), UNKNOWN)


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
        for rank, source in enumerate(nodes.of(one.source)):
            node = None if one.node is None else nodes.nearest(source, one.node, rank)
            found.setdefault(source, []).append(replace(one, source=source, node=node))
    return list(found.items()) or [(None, [])]


def parts(schemes: Sequence[Scheme], target: Target) -> list[Part]:
    """Return what each kdamond of this system does, so that the schemes run on the target.

    Raises KlocError like `placed`, if a node has no memory, and like `cgroups.resolved`.
    """
    if not isinstance(target, Physical):
        return [(target, schemes)]
    schemes = cgroups.resolved(schemes)
    return [
        (target if node is None else of_node(node, target.ranges), ran)
        for node, ran in placed(schemes, of_system())
    ]


def remarks(schemes: Sequence[Scheme], target: Target) -> list[str]:
    """Return which memory of this system the schemes leave out although it is of the target."""
    if not isinstance(target, Physical):
        return []
    with_memory = {node for node, _, _ in memory(target.ranges)}
    return list(left_out(schemes, of_system(), sorted(with_memory)))


def left_out(schemes: Sequence[Scheme], nodes: Nodes, with_memory: Sequence[int]) -> Iterator[str]:
    """Yield which nodes no scheme is for, and to which nodes of a tier no scheme moves memory."""
    ran = [(node, one) for node, found in placed(schemes, nodes) for one in found]
    sources = {node for node, _ in ran}
    if None not in sources:
        for node in with_memory:
            if node not in sources:
                yield f"no scheme is for the memory of node {node}"
    targets = {one.node for _, one in ran}
    for tier in dict.fromkeys(one.node for one in schemes if isinstance(one.node, str)):
        for node in nodes.of(tier):
            if node not in targets:
                yield (
                    f"no memory moves to node {node}: that of each node moves to one node of "
                    f"{tier} memory, the nearest"
                )


def came_later() -> list[tuple[int, int]]:
    """Return nodes, and bytes of their memory that came after kloc applied a scheme.

    Raises KlocError like `damon.new_memory`.
    """
    new = damon.new_memory()
    sizes: dict[int, int] = {}
    for node, start, end in memory(new) if new else ():
        sizes[node] = sizes.get(node, 0) + end - start
    return sorted(sizes.items())


def of_node(node: int, ram: Ranges) -> Physical:
    """Return the part of `ram` that is in a node of this system. Raises KlocError without any."""
    found = tuple((start, end) for owner, start, end in memory(ram) if owner == node)
    if not found:
        raise KlocError(f"node {node} has no memory", f"numactl -H, or {NODES}, lists the nodes")
    return Physical(found)


def memory(ram: Ranges) -> list[tuple[int, int, int]]:
    """Return the parts of `ram` with their nodes on this system, as `numa.owned` does."""
    zoneinfo = damon.path_of(numa.ZONEINFO).read_text()
    return numa.owned(ram, zoneinfo, os.sysconf("SC_PAGESIZE"), blocks())


def blocks() -> Blocks:
    """Return the blocks of memory of this system, none if the kernel has no memory hotplug."""
    size = damon.path_of(numa.BLOCK_SIZE)
    if not size.exists():
        return numa.NO_BLOCKS
    found: dict[int, list[int]] = {}
    for block in damon.path_of(NODES).glob("node[0-9]*/memory[0-9]*"):
        node = int(block.parent.name.removeprefix("node"))
        found.setdefault(int(block.name.removeprefix("memory")), []).append(node)
    return Blocks(int(size.read_text(), 16), found)


def of_system() -> Nodes:
    """Return the nodes of the running system."""
    fast_and_slow = numa.read_fast_and_slow(damon.ROOT)
    tiers = dict(zip(TIERS, fast_and_slow, strict=True)) if fast_and_slow else {}
    distances: dict[tuple[int, int], int] = {}
    folders = damon.path_of(NODES).glob("node[0-9]*")
    online = sorted(int(folder.name.removeprefix("node")) for folder in folders)
    for node in online:
        row = (damon.path_of(NODES) / f"node{node}" / "distance").read_text().split()
        distances |= {(node, other): int(far) for other, far in zip(online, row, strict=False)}
    return Nodes(tiers, distances)


def node_lists() -> list[str]:
    """Return the nodes of each tier, fastest first, as the kernel lists them: 0-1,3."""
    return numa.read_tiers(damon.ROOT)


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
