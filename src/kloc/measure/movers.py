# SPDX-License-Identifier: GPL-2.0
"""Who moved the pages of a run: contexts, the policy page by page, kswapd, or NUMA balancing.

The kernel's policies of memory tiers count what they move in /sys/kernel/mm/tiering/stats, and the
pages on LRU lists in /proc/vmstat as well, where kswapd and NUMA balancing count theirs. So what a
policy moved is subtracted from the counters of /proc/vmstat. Slab pages are only in the former.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kloc.measure.kernel_counts import DEMOTED

PROMOTED = "pgpromote_success"
"""The counter of promoted pages."""

CONTEXT, PAGE, LRU, HINT_FAULT, OTHER = "context", "page", "lru", "hint_fault", "other"

RANDOM = "random"
"""The reason of moves of what luck has chosen: a context, or a page if a policy has no contexts."""

REASONS = {
    "promoted": {"active": CONTEXT, "used": PAGE, "hint": HINT_FAULT},
    "demoted": {
        "inactive": CONTEXT,
        "unused": CONTEXT,
        RANDOM: CONTEXT,
        "old": PAGE,
        "limit": PAGE,
        "pair": PAGE,
        "cold": PAGE,
    },
}
"""For each reason for which a policy moves pages: who moves them."""

KERNELS = {"promoted": HINT_FAULT, "demoted": LRU}
"""Who moves the pages that /proc/vmstat counts, and no policy of memory tiers."""

TRACED = ("hint_fault", "demotion", "context")
"""The reasons among a run's `moved_pages` for which the kernel has counters. They are not OTHER."""

SLAB = "slab"
ON_LISTS = ("anon", "file", "blockdev")
"""The kinds of pages that are on LRU lists."""

Moved = dict[str, dict[str, int]]
"""Pages by direction (promoted, demoted) and mover."""


def moved_by(
    tiering: Mapping[str, Mapping[str, int]],
    vmstat: Mapping[str, int],
    moved_pages: Mapping[str, Mapping[str, int]],
) -> Moved:
    """Return the pages that a run moved, by direction and by who moved them.

    The arguments are those keys of its record. Movers that moved nothing are left out.
    """
    counted = {
        "promoted": vmstat.get(PROMOTED, 0),
        "demoted": sum(vmstat.get(name, 0) for name in DEMOTED),
    }
    has_contexts = bool(tiering.get("end", {}).get("knodes"))
    found: Moved = {}
    for direction, reasons in REASONS.items():
        pages = {CONTEXT: 0, PAGE: 0, KERNELS[direction]: 0, OTHER: 0}
        for reason, mover in reasons.items():
            name = f"{direction}_{reason}"
            if reason == RANDOM and not has_contexts:
                mover = PAGE
            pages[mover] += _changed(tiering, name, (*ON_LISTS, SLAB))
        # The counters are read one after the other, while pages move.
        pages[KERNELS[direction]] += max(0, counted[direction] - on_lists(tiering, direction))
        pages[OTHER] = sum(
            count
            for reason, count in moved_pages.get(direction, {}).items()
            if reason not in TRACED
        )
        found[direction] = {mover: count for mover, count in pages.items() if count}
    return found


def on_lists(tiering: Mapping[str, Mapping[str, int]], direction: str) -> int:
    """Return the pages of LRU lists that the kernel's policy of memory tiers has moved.

    /proc/vmstat counts them among the moved pages, and not among the reclaimed ones.
    """
    names = (f"{direction}_{reason}" for reason in REASONS[direction])
    return sum(_changed(tiering, name, ON_LISTS) for name in names)


def _changed(tiering: Mapping[str, Mapping[str, int]], name: str, kinds: Iterable[str]) -> int:
    """Return the change over the region of a count, summed over kinds of pages."""
    changed = tiering.get("changed", {})
    return sum(changed.get(f"{kind}/{name}", 0) for kind in kinds)
