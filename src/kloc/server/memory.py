# SPDX-License-Identifier: GPL-2.0
"""Reads the nodes of memory of the running kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kloc.base import numa
from kloc.server import system
from kloc.server.system import read
from kloc.server.tiering import NONE, POLICY

FAST, SLOW = "fast", "slow"

MOVABLE = "Movable"
"""The zone of memory that can be unplugged: the kernel allocates only there what it can move."""


@dataclass(frozen=True)
class Node:
    """A node with memory. `managed` are the pages of each zone, `tier` is None if there is one.

    `gave_up` says that kswapd reclaims no more: too often in a row it could reclaim nothing.
    """

    tier: str | None
    managed: dict[str, int]
    gave_up: bool

    @property
    def only_movable(self) -> bool:
        """Whether the kernel cannot allocate here what it cannot move, such as slabs."""
        return set(self.managed) == {MOVABLE}


def read_nodes() -> dict[int, Node]:
    """Return the nodes that have memory by their numbers, none if files are missing."""
    tiers = numa.read_fast_and_slow(system.ROOT)
    names = {
        node: name
        for name, tier in zip((FAST, SLOW), tiers or ((), ()), strict=True)
        for node in tier
    }
    found: dict[int, Node] = {}
    for zone in numa.zones(read(numa.ZONEINFO[1:]) or ""):
        if zone.managed:
            known = found.get(zone.node, Node(names.get(zone.node), {}, False))
            managed = {**known.managed, zone.name: zone.managed}
            found[zone.node] = Node(known.tier, managed, known.gave_up or zone.unreclaimable)
    return dict(sorted(found.items()))


def remarks(nodes: dict[int, Node], policy: str, moves_slabs: bool) -> Iterator[str]:
    """Yield which nodes do not do what the selected policy expects, and what to do.

    `moves_slabs` says that it moves slabs.
    """
    for number, node in nodes.items():
        if node.gave_up:
            how = "echo 64M > /sys/fs/cgroup/memory.reclaim"
            if node.tier == FAST and policy != NONE:
                how = f"echo none > /{POLICY}, then echo {policy} > /{POLICY}"
            yield (
                f"kswapd of node {number} has given up, because many times in a row it could "
                f"reclaim nothing. It makes no room there until a reclaim succeeds; as root: {how}"
            )
    slow = {number: node for number, node in nodes.items() if node.tier == SLOW}
    movable = [str(number) for number, node in slow.items() if node.only_movable]
    if moves_slabs and movable:
        nodes_ = f"node{'s' if len(movable) > 1 else ''} {', '.join(movable)}"
        none = "no slab is demoted: " if len(movable) == len(slow) else ""
        yield (
            f"{none}all memory of {nodes_} is in ZONE_MOVABLE, which takes no slabs. daxctl "
            "reconfigure-device --no-movable, or the kernel parameter "
            "memhp_default_state=online_kernel, brings it online in another zone; then it cannot "
            "be unplugged"
        )
