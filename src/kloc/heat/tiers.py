# SPDX-License-Identifier: GPL-2.0
"""Which addresses of physical memory are in which node and tier."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise

from kloc.heat.records import Memory
from kloc.schemes import damon, nodes
from kloc.schemes.nodes import ZONEINFO, Ranges
from kloc.schemes.scheme import TIERS as TWO


def memory(ram: Ranges, zoneinfo: str, tiers: Mapping[int, str], page: int) -> list[Memory]:
    """Return the parts of `ram` by node, in the order of their addresses.

    `zoneinfo` is the content of that file, `tiers` has the name of the tier of each node, and
    `page` is the size of a page.
    """
    found = [
        Memory(max(start, low), min(end, high), node, tiers.get(node, ""))
        for start, end in ram
        for node, low, high in nodes.zones(zoneinfo, page)
        if max(start, low) < min(end, high)
    ]
    found.sort(key=lambda one: one.start)
    return _joined(found)


def of_system(ram: Ranges) -> list[Memory]:
    """Return the parts of `ram` by node on the running system."""
    zoneinfo = damon.path_of(ZONEINFO).read_text()
    return memory(ram, zoneinfo, tier_names(nodes.node_lists()), os.sysconf("SC_PAGESIZE"))


def tier_names(lists: Sequence[str]) -> dict[int, str]:
    """Return the name of each node's tier, of lists of nodes.

    A single tier has no name, and more than two are numbered.
    """
    lists = [one for one in lists if one]
    if len(lists) < 2:
        return {}
    names = TWO if len(lists) == 2 else [f"tier {number + 1}" for number in range(len(lists))]
    return {
        node: name for name, one in zip(names, lists, strict=True) for node in nodes.listed(one)
    }


def _joined(parts: Sequence[Memory]) -> list[Memory]:
    """Return the parts, those of a node that follow each other without a gap as one."""
    starts = [0] + [
        number + 1
        for number, (one, other) in enumerate(pairwise(parts))
        if (one.end, one.node) != (other.start, other.node)
    ]
    ends = [*starts[1:], len(parts)]
    return [
        Memory(parts[start].start, parts[end - 1].end, parts[start].node, parts[start].tier)
        for start, end in zip(starts, ends, strict=True)
        if end > start
    ]
