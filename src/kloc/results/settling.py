# SPDX-License-Identifier: GPL-2.0
"""How long a policy took to settle: from the slices of a run's warm-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from kloc.measure.record import Run
from kloc.measure.run_notes import SLICES_SETTLED

WITHIN, AT_MOST = 0.05, 0.15
"""Medians that differ by the first fraction are alike; slices that scatter do not allow more than
the second one."""

SCATTER = 3
"""Medians may differ by this many times the scatter of the slices."""

HALF = SLICES_SETTLED // 2

FEW = 0.01
"""Moved pages do not matter in slices that moved less than this fraction of fast memory."""

PAGE_BYTES = 4096
KEYS = ("time_ns", "moved_pages")

Slice = Mapping[str, float]
"""A slice of a warm-up, as in a result."""


def has_settled(slices: Sequence[Slice], few: float) -> bool:
    """Return whether the last slices show that the machine has settled.

    This is the test of machine/guest/settled.awk, which says what it is. `few` is 1 % of fast
    memory, in pages.
    """
    if len(slices) < SLICES_SETTLED:
        return False
    times, moved = ([one[key] for one in slices[-SLICES_SETTLED:]] for key in KEYS)
    return _apart(times) <= _limit(times) and _apart(moved) <= max(few, _limit(moved))


def seconds(run: Run) -> float | None:
    """Return the time from the beginning of the warm-up until the machine had settled.

    It had from the first slice on that is followed by no two slices in a row unlike the last ones.
    None if it has not (see `has_settled`), or there was no warm-up.
    """
    slices = (run.get("warm_up") or {}).get("slices", [])
    few = int(FEW * run["machine"].get("fast_bytes", 0) / PAGE_BYTES)
    if not has_settled(slices, few):
        return None
    last = slices[-SLICES_SETTLED:]
    unlike = [True, *(any(_unlike(one, last, key, few) for key in KEYS) for one in slices)]
    # unlike[0] stands before the first slice, so that this one counts alone.
    first = max(
        (at for at in range(1, len(unlike)) if unlike[at] and unlike[at - 1]),
        default=0,
    )
    return float(sum(one["time_ns"] for one in slices[:first])) / 1e9


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


def _apart(values: Sequence[float]) -> float:
    """Return how far the medians of the two halves are apart."""
    return abs(median(values[:HALF]) - median(values[HALF:]))


def _limit(values: Sequence[float]) -> float:
    """Return how far apart the medians may be."""
    middles = [median(half) for half in (values[:HALF], values[HALF:])]
    far = [abs(value - middles[at // HALF]) for at, value in enumerate(values)]
    return max(WITHIN * middles[0], min(SCATTER * median(far), AT_MOST * middles[0]))


def _unlike(one: Slice, last: Sequence[Slice], key: str, few: float) -> bool:
    values = [each[key] for each in last]
    limit = max(_limit(values), few if key == "moved_pages" else 0)
    return abs(one[key] - median(values[HALF:])) > limit
