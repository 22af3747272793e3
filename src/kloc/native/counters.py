# SPDX-License-Identifier: GPL-2.0
"""What the running kernel counts of moved pages, and when it has stopped to move them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping

from kloc.native.signals import heard
from kloc.server import system, tiering
from kloc.server.system import read

VMSTAT = (
    *("pgpromote_success", "pgpromote_candidate"),
    *("pgdemote_kswapd", "pgdemote_direct", "pgdemote_khugepaged", "pgdemote_proactive"),
    *("pgmigrate_success", "pgmigrate_fail", "numa_hint_faults", "numa_pages_migrated"),
    *("pgsteal_kswapd", "pgsteal_direct", "workingset_refault_anon", "workingset_refault_file"),
    *("pswpin", "pswpout", "pgmajfault"),
)
"""The counters of /proc/vmstat that are recorded."""

DROP_CACHES = "/proc/sys/vm/drop_caches"

QUIET_SECONDS = 3.0
"""Moves have stopped if there was none for so long."""

LOOK_SECONDS = 0.5

Counts = Mapping[str, int]


def read_all() -> Counter[str]:
    """Return the counters: those of vmstat, and the policy's as KIND/COUNT."""
    found: Counter[str] = Counter()
    for line in (read("proc/vmstat") or "").splitlines():
        name, _, value = line.partition(" ")
        if name in VMSTAT:
            found[name] = int(value)
    for kind, counts in tiering.read_counts().items():
        for name, number in counts.items():
            found[f"{kind}/{name}"] = number
    return found


def change(before: Counts, after: Counts) -> dict[str, int]:
    """Return by how much counters have changed."""
    return {name: number - before.get(name, 0) for name, number in after.items()}


def moves(counts: Counts) -> dict[str, dict[str, int]]:
    """Return the pages in `counts` that were promoted and demoted: those on LRU lists, and slabs.

    vmstat counts what policies move on LRU lists, too, but not their slabs.
    """
    found = {}
    for direction, of_vmstat in (("promoted", "pgpromote_success"), ("demoted", "pgdemote_")):
        reasons = [f"slab/{direction}_{reason}" for reason in tiering.REASONS[direction]]
        found[direction] = {
            "lru": sum(count for name, count in counts.items() if name.startswith(of_vmstat)),
            "slab": sum(counts.get(name, 0) for name in reasons),
        }
    return found


def drop_page_cache() -> None:
    """Write dirty pages to disks, and let the kernel forget page cache, dentries and inodes."""
    with heard():
        os.sync()
    system.write(DROP_CACHES, "3")


def settle(limit: float) -> float | None:
    """Wait until no page is moved any more; return for how long.

    None if pages still moved after `limit` seconds.
    """
    enough = min(QUIET_SECONDS, limit)
    began = quiet = time.monotonic()
    last = moves(read_all())
    while True:
        now = time.monotonic()
        if now - quiet >= enough:
            return now - began
        if now - began >= limit:
            return None
        with heard():
            time.sleep(LOOK_SECONDS)
        counts = moves(read_all())
        if counts != last:
            last, quiet = counts, time.monotonic()
