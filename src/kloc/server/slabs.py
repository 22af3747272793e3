# SPDX-License-Identifier: GPL-2.0
"""Reads where the pages of relocatable slabs are, and how many have moved.

The file is that of /sys/kernel/debug/reloc; kernel/files/Documentation/mm/reloc.rst describes it.
"""

from __future__ import annotations

from kloc.base.columns import by_row
from kloc.server.system import read

CACHES = "sys/kernel/debug/reloc/caches"


def read_caches() -> dict[str, dict[str, int]]:
    """Return what is known of each cache; nothing if no cache can move, or if not root.

    The columns are `fast` and `slow`, its pages in each tier now; `fast_unused` and `slow_unused`,
    how many of them no scan of the last eight found used; `promoted` and `demoted`, pages that have
    moved since boot; and `slow_away`, pages in slow memory that were allocated in fast memory. Only
    reclaim of fast memory frees these.
    """
    return by_row(read(CACHES) or "")
