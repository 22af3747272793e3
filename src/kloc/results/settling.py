# SPDX-License-Identifier: GPL-2.0
"""How long a policy took to settle: from the slices of a run's warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from kloc.measure.record import SLICES_SETTLED, Run

ALIKE = 1.05
"""Slices are alike if their largest figure is at most the smallest one times this."""

FEW = 0.01
"""Moved pages do not matter in slices that moved less than this fraction of fast memory."""

PAGE_BYTES = 4096


def seconds(run: Run) -> float | None:
    """Return the time from the beginning of the warm-up until the machine had settled.

    It had from the slice on from which all slices are alike, in their durations and in the pages
    that they moved. None if these are fewer than SLICES_SETTLED slices, or there was no warm-up.
    """
    slices = (run.get("warm_up") or {}).get("slices", [])
    few = FEW * run["machine"].get("fast_bytes", 0) / PAGE_BYTES
    for first in range(len(slices) - SLICES_SETTLED + 1):
        if _alike(slices[first:], few):
            return float(sum(one["time_ns"] for one in slices[:first])) / 1e9
    return None


def text(runs: Sequence[Run]) -> str:
    """Return in ms how long runs of one policy took to settle: the median over seeds.

    If one of them had not settled, it is more than the median duration of the warm-ups. Empty
    without a warm-up.
    """
    warm = [run for run in runs if run.get("warm_up")]
    if not warm:
        return ""
    settled = [seconds(run) for run in warm]
    known = [value for value in settled if value is not None]
    if len(known) == len(warm):
        return f"{1e3 * median(known):,.0f}"
    return f"> {1e3 * median(run['warm_up']['seconds'] for run in warm):,.0f}"


def _alike(slices: Sequence[dict[str, Any]], few: float) -> bool:
    times: list[float] = [one["time_ns"] for one in slices]
    moved: list[float] = [one["moved_pages"] for one in slices]
    quiet = max(moved) < few or max(moved) <= ALIKE * min(moved)
    return quiet and max(times) <= ALIKE * min(times)
