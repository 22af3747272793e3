# SPDX-License-Identifier: GPL-2.0
"""Ranges of addresses, each with its first one and the one after its last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Ranges = Sequence[tuple[int, int]]


def without(ranges: Ranges, others: Ranges) -> list[tuple[int, int]]:
    """Return what of sorted `ranges` is not in `others`, which are sorted, too."""
    found = []
    for start, end in ranges:
        for low, high in others:
            if low < end and start < high:
                if start < low:
                    found.append((start, low))
                start = high
        if start < end:
            found.append((start, end))
    return found


def joined(ranges: Iterable[tuple[int, int]], gap: int = 0) -> list[tuple[int, int]]:
    """Return sorted ranges, those with no more than `gap` bytes between them as one."""
    found: list[tuple[int, int]] = []
    for start, end in ranges:
        if found and start - found[-1][1] <= gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
