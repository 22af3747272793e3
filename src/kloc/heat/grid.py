# SPDX-License-Identifier: GPL-2.0
"""The access frequencies of a record, as numbers on a grid of addresses and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kloc.heat.records import Record

Array = np.ndarray[Any, np.dtype[Any]]

HELD = 1.25
"""A snapshot is shown for up to this many aggregation intervals before its time, not only one."""


@dataclass(frozen=True)
class Regions:
    """All regions of a record as columns, each of shape (regions,).

    `snapshot` is the number of the region's snapshot, `target` the number of its process (0 for
    physical memory), `frequency` the share of the samples in which an access was seen, 0 to 1.
    """

    snapshot: Array
    target: Array
    start: Array
    end: Array
    frequency: Array


def regions(record: Record) -> Regions:
    """Return the regions of a record."""
    counts = [len(one.regions) for one in record.snapshots]
    flat = [number for one in record.snapshots for region in one.regions for number in region]
    table = np.array(flat, dtype=np.int64).reshape(-1, 3)
    return Regions(
        snapshot=np.repeat(np.arange(len(counts)), counts),
        target=np.repeat([one.process or 0 for one in record.snapshots], counts),
        start=table[:, 0],
        end=table[:, 1],
        frequency=np.minimum(1.0, table[:, 2] / record.attributes.samples),
    )


def frequencies(
    record: Record, table: Regions, target: int, ends: tuple[int, int], shape: tuple[int, int]
) -> Array:
    """Return the mean access frequency, 0 to 1, on a grid of `shape` (rows, columns).

    Rows are equal parts of the addresses between `ends`, lowest first; columns are equal parts of
    the time. What was not monitored is NaN. `table` is `regions(record)`.
    """
    rows, columns = shape
    times = np.array([one.time for one in record.snapshots])
    own = np.array([(one.process or 0) == target for one in record.snapshots])
    accessed, monitored = _sums(table, target, ends, rows, len(times))
    edges = np.linspace(0.0, record.seconds, columns + 1)
    # A snapshot belongs to the column in which its interval ended.
    column = np.searchsorted(edges, times, side="left") - 1
    valid = own & (column >= 0) & (column < columns)
    grid = np.zeros((2, rows, columns))
    for number, sums in enumerate((accessed, monitored)):
        np.add.at(grid[number].T, column[valid], sums[valid])
    _hold(grid, times, own, (accessed, monitored), edges, record.attributes.aggregation_us / 1e6)
    with np.errstate(invalid="ignore"):
        result: Array = np.where(grid[1] > 0, grid[0] / grid[1], np.nan)
    return result


def heat(table: Regions, target: int, ends: tuple[int, int]) -> float:
    """Return the sum of bytes times access frequency of all regions between two addresses."""
    accessed, _ = _sums(table, target, ends, 1, int(table.snapshot[-1]) + 1)
    return float(accessed.sum())


def _sums(
    table: Regions, target: int, ends: tuple[int, int], rows: int, snapshots: int
) -> tuple[Array, Array]:
    """Return bytes times frequency, and bytes, of each snapshot and row: (snapshots, rows)."""
    chosen = (table.target == target) & (table.end > ends[0]) & (table.start < ends[1])
    start, end = table.start[chosen], table.end[chosen]
    snapshot, frequency = table.snapshot[chosen], table.frequency[chosen]
    edges = np.linspace(ends[0], ends[1], rows + 1)
    accessed, monitored = np.zeros((snapshots, rows)), np.zeros((snapshots, rows))
    for row in range(rows):
        size = np.minimum(end, edges[row + 1]) - np.maximum(start, edges[row])
        inside = size > 0
        where, size = snapshot[inside], size[inside]
        monitored[:, row] = np.bincount(where, size, snapshots)
        accessed[:, row] = np.bincount(where, size * frequency[inside], snapshots)
    return accessed, monitored


def _hold(
    grid: Array,
    times: Array,
    own: Array,
    sums: tuple[Array, Array],
    edges: Array,
    interval: float,
) -> None:
    """Fill columns that are shorter than an interval with the snapshot whose interval they are in.

    `grid` has the shape (2, rows, columns), and `sums` are those of its two parts.
    """
    numbers = np.flatnonzero(own)
    if not len(numbers):
        return
    ended = times[numbers]
    for column in np.flatnonzero(~grid[1].any(axis=0)):
        middle = (edges[column] + edges[column + 1]) / 2
        next_one = int(np.searchsorted(ended, middle))
        if next_one < len(ended) and ended[next_one] - middle <= HELD * interval:
            for number in (0, 1):
                grid[number, :, column] = sums[number][numbers[next_one]]
