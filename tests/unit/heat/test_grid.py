# SPDX-License-Identifier: GPL-2.0
"""Access frequencies on a grid."""

from __future__ import annotations

import numpy as np
import pytest

from kloc.heat import grid
from kloc.heat.records import Record, Snapshot
from support import made_up_heat
from support.made_up_heat import HEAP, MIB, STACK

END = HEAP + 8 * MIB


def frequencies(
    record: Record, ends: tuple[int, int], shape: tuple[int, int], target: int = 0
) -> grid.Array:
    return grid.frequencies(record, grid.regions(record), target, ends, shape)


def test_what_moves_up_is_a_diagonal() -> None:
    assert np.array_equal(frequencies(made_up_heat.record(), (HEAP, END), (8, 8)), np.eye(8))


def test_frequencies_are_means_over_addresses_and_time() -> None:
    record = made_up_heat.record()
    assert frequencies(record, (HEAP, END), (1, 1)) == pytest.approx(1 / 8)
    assert frequencies(record, (HEAP, END), (4, 4)) == pytest.approx(np.eye(4) / 2)
    assert frequencies(record, (STACK, STACK + 8 * MIB), (2, 1)) == pytest.approx(
        np.array([[0.0], [0.5]])
    )


def test_a_snapshot_fills_the_columns_of_its_interval() -> None:
    values = frequencies(made_up_heat.record(), (HEAP, END), (8, 32))
    assert np.array_equal(values, np.kron(np.eye(8), np.ones(4)))


def test_what_was_not_monitored_is_not_a_number() -> None:
    record = made_up_heat.record()
    values = frequencies(record, (HEAP - 8 * MIB, END), (2, 1))
    assert np.isnan(values[0, 0]) and values[1, 0] == pytest.approx(1 / 8)
    # A pause of three seconds, and a process that is not there.
    paused = made_up_heat.record(snapshots=(record.snapshots[0], *record.snapshots[4:]))
    values = frequencies(paused, (HEAP, END), (1, 8))
    assert np.isnan(values[0]).tolist() == [False, True, True, True, *[False] * 4]
    assert np.isnan(frequencies(record, (HEAP, END), (1, 8), target=1)).all()


def test_heat_is_bytes_times_frequency() -> None:
    table = grid.regions(made_up_heat.record())
    assert grid.heat(table, 0, (HEAP, END)) == 8 * MIB
    assert grid.heat(table, 0, (STACK, STACK + 8 * MIB)) == 8 * 2 * MIB
    assert grid.heat(table, 1, (HEAP, END)) == 0


def test_more_accesses_than_samples_are_every_sample() -> None:
    # A sampling interval that does not divide the aggregation interval has one sample more.
    record = made_up_heat.record(snapshots=(Snapshot(1.0, 0, ((0, 4096, 21),)),))
    assert grid.regions(record).frequency.tolist() == [1.0]
