# SPDX-License-Identifier: GPL-2.0
"""Which addresses of physical memory are in which node and tier."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from kloc.base import numa
from kloc.base.numa import NO_BLOCKS, Blocks
from kloc.base.ranges import Ranges
from kloc.heat.records import Memory
from kloc.schemes import damon, nodes
from kloc.schemes.scheme import TIERS as TWO


def memory(
    ram: Ranges, zoneinfo: str, tiers: Mapping[int, str], page: int, blocks: Blocks = NO_BLOCKS
) -> list[Memory]:
    """Return the parts of `ram` by node, in the order of their addresses.

    `zoneinfo` is the content of that file, `tiers` has the name of the tier of each node, and
    `page` is the size of a page.
    """
    return [
        Memory(start, end, node, tiers.get(node, ""))
        for node, start, end in numa.owned(ram, zoneinfo, page, blocks)
    ]


def of_system(ram: Ranges) -> list[Memory]:
    """Return the parts of `ram` by node on the running system."""
    zoneinfo = damon.path_of(numa.ZONEINFO).read_text()
    names = tier_names(nodes.node_lists())
    return memory(ram, zoneinfo, names, os.sysconf("SC_PAGESIZE"), nodes.blocks())


def tier_names(lists: Sequence[str]) -> dict[int, str]:
    """Return the name of each node's tier, of lists of nodes.

    A single tier has no name, and more than two are numbered.
    """
    lists = [one for one in lists if one]
    if len(lists) < 2:
        return {}
    names = TWO if len(lists) == 2 else [f"tier {number + 1}" for number in range(len(lists))]
    return {node: name for name, one in zip(names, lists, strict=True) for node in numa.listed(one)}
