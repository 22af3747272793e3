# SPDX-License-Identifier: GPL-2.0
"""The groups that figures distinguish: page kinds, parts of time, reasons of migrations.

Each has a color, which is the name of a CSS variable in templates/style.css, so that it suits the
light and the dark style.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """An entry of a legend: its label and its color."""

    label: str
    color: str


APPLICATION = Group("application", "blue")
PAGE_CACHE = Group("page cache", "orange")
BLOCK_DEVICE = Group("block devices", "yellow")
SLAB = Group("slab", "green")
SOCKETS = Group("socket buffers", "vermillion")
PAGE_TABLES = Group("page tables", "purple")
OTHER = Group("other kernel", "grey")
STATIC = Group("kernel, static", "slate")
UNKNOWN = Group("kinds unknown", "grey")
FREE = Group("free", "blank")

COMPUTE = Group("compute", "neutral")
STORAGE = Group("storage wait", "sky")
IDLE = Group("other idle", "blank")

PAGES = (APPLICATION, PAGE_CACHE, BLOCK_DEVICE, SLAB, SOCKETS, PAGE_TABLES, OTHER, STATIC)
"""The groups of pages in use, in stacking order."""

STALLS = (*PAGES, UNKNOWN)
"""The groups of stalls, in stacking order. Another kernel (--kernel) does not tell pages apart."""

TIME = (COMPUTE, *STALLS, STORAGE, IDLE)
"""The parts of a run's time, in stacking order; stalls are by group of pages."""

_GROUP_OF_KIND = {
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
    "unknown": UNKNOWN,
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
    """Return the group of a page kind; kinds that this kloc does not know are the kernel's."""
    return _GROUP_OF_KIND.get(kind.partition(":")[0].replace(" ", ""), OTHER)


def reason(name: str) -> Group:
    """Return the legend entry of a reason for which pages were moved."""
    return _REASONS.get(name, Group(name.replace("_", " "), "grey"))


def by_group(values: Mapping[str, float]) -> dict[Group, float]:
    """Return the sums by group of values by page kind."""
    sums: dict[Group, float] = {}
    for kind, value in values.items():
        sums[group(kind)] = sums.get(group(kind), 0.0) + value
    return sums
