# SPDX-License-Identifier: GPL-2.0
"""Reads where the pages of relocatable slabs are, and how many have moved.

The file is that of /sys/kernel/debug/reloc; kernel/files/Documentation/mm/reloc.rst describes it.
"""

from __future__ import annotations

from kloc.server.system import read

CACHES = "sys/kernel/debug/reloc/caches"

COLUMNS = ("fast", "slow", "promoted", "demoted")
"""What is known of a cache: pages in each tier now, and pages that have moved since boot."""


def read_caches() -> dict[str, dict[str, int]]:
    """Return pages by cache and column; nothing if no cache can move, or if not root."""
    lines = [line.split("\t") for line in (read(CACHES) or "").splitlines()]
    if not lines:
        return {}
    head, *rows = lines
    return {
        row[0]: {column: int(row[head.index(column)]) for column in COLUMNS if column in head}
        for row in rows
    }
