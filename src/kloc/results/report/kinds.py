# SPDX-License-Identifier: GPL-2.0
"""What figures tell apart, and its colour: kinds of pages, parts of time, reasons to move a page.

A colour is the name of a CSS variable (templates/style.css), so that it suits light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Something with a colour of its own: what a legend calls it."""

    label: str
    colour: str


APPLICATION = Group("application", "blue")
PAGE_CACHE = Group("page cache", "orange")
BLOCK_DEVICE = Group("block devices", "yellow")
SLAB = Group("slab", "green")
SOCKETS = Group("socket buffers", "vermillion")
PAGE_TABLES = Group("page tables", "purple")
OTHER = Group("other kernel", "grey")
STATIC = Group("kernel, static", "slate")
FREE = Group("free", "blank")

COMPUTE = Group("compute", "neutral")
STORAGE = Group("storage wait", "sky")
IDLE = Group("other idle", "blank")
EXCESS = Group("held up by background threads", "ink")

PAGES = (APPLICATION, PAGE_CACHE, BLOCK_DEVICE, SLAB, SOCKETS, PAGE_TABLES, OTHER, STATIC)
"""The groups of pages in use, in the order in which they are stacked."""

_GROUP_OF = {
    "anon": APPLICATION,
    "shmem": APPLICATION,
    "application": APPLICATION,
    "file": PAGE_CACHE,
    "blockdev": BLOCK_DEVICE,
    "journal": BLOCK_DEVICE,
    "slab": SLAB,
    "socket": SOCKETS,
    "pagetable": PAGE_TABLES,
    "kernel": STATIC,
    "free": FREE,
}

_REASONS = {
    "hint_fault": Group("hint fault", "blue"),
    "demotion": Group("reclaim", "orange"),
    "compaction": Group("compaction", "purple"),
    "mempolicy": Group("memory policy", "sky"),
    "damon": Group("DAMON", "green"),
    "context": Group("context", "vermillion"),
    "all": Group("all reasons", "blue"),
}


def group(kind: str) -> Group:
    """Return the group that a kind of page belongs to; one that nobody knows is the kernel's."""
    return _GROUP_OF.get(kind.partition(":")[0].replace(" ", ""), OTHER)


def reason(name: str) -> Group:
    """Return the group of a reason for which a page was moved."""
    return _REASONS.get(name, Group(name.replace("_", " "), "grey"))


def by_group(kinds: Mapping[str, float]) -> dict[Group, float]:
    """Return the sums of what is given by kind, by group."""
    sums: dict[Group, float] = {}
    for kind, value in kinds.items():
        sums[group(kind)] = sums.get(group(kind), 0.0) + value
    return sums
