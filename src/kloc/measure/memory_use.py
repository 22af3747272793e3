# SPDX-License-Identifier: GPL-2.0
"""What a run's memory samples and DAMON's statistics say (machine/guest/kloc-memory.c, agent)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from kloc.base.errors import KlocError


def memory(frames: Mapping[str, str]) -> dict[str, float] | None:
    """Return the mean memory of processes in the region, in bytes; None if it was not sampled.

    `resident` is what page tables map, each page once. `swapped` is what zram holds, compressed: it
    takes memory, too, and `mean` is the sum of both. Raises KlocError without a sample.
    """
    if "memory" not in frames:
        return None
    samples = [[int(word) for word in line.split()] for line in frames["memory"].splitlines()]
    if not samples:
        raise KlocError(
            "no sample of memory was taken in the measured region",
            "the region is too short: measure without --quick, or a longer program",
        )
    resident, swapped = (fmean(sample[column] for sample in samples) for column in (1, 2))
    return {
        "mean": resident + swapped,
        "resident": resident,
        "swapped": swapped,
        "samples": len(samples),
    }


def scheme_stats(frames: Mapping[str, str]) -> list[dict[str, int]]:
    """Return DAMON's statistics of each scheme at the end of the region, since the load began.

    They are in the order of kdamonds, and of the schemes of each.
    """
    stats: dict[tuple[int, int], dict[str, int]] = {}
    for line in frames.get("damon", "").splitlines():
        path, _, value = line.partition(" ")
        kdamond, scheme, name = path.split("/")
        stats.setdefault((int(kdamond), int(scheme)), {})[name] = int(value)
    return [stats[place] for place in sorted(stats)]
