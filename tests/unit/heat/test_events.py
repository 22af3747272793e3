# SPDX-License-Identifier: GPL-2.0
"""Snapshots are put together from the lines of the tracepoint."""

from __future__ import annotations

from kloc.heat.events import Snapshots
from kloc.heat.records import Snapshot
from support.fake_tracing import lines

ONE = [(0, 4096, 3), (4096, 65536, 0)]
OTHER = [(0, 8192, 1), (8192, 65536, 20)]

HEADER = "# tracer: nop\n#\n"


def test_a_snapshot_has_the_regions_of_one_interval() -> None:
    snapshots = Snapshots(100.0)
    found = list(snapshots.add(HEADER + lines(100.5, ONE) + lines(101.0, OTHER), [0]))
    assert found == [Snapshot(0.5, 0, tuple(ONE)), Snapshot(1.0, 0, tuple(OTHER))]
    assert snapshots.lost == 0


def test_lines_may_be_cut_anywhere() -> None:
    text = lines(100.5, ONE) + lines(101.0, OTHER)
    snapshots = Snapshots(100.0)
    found = [one for at in range(len(text)) for one in snapshots.add(text[at], [0])]
    assert [one.regions for one in found] == [tuple(ONE), tuple(OTHER)]


def test_targets_are_the_processes_of_their_time() -> None:
    snapshots = Snapshots(0.0)
    text = lines(0.5, ONE, target=0) + lines(0.5, OTHER, target=1)
    assert [one.process for one in snapshots.add(text, [4, 2])] == [4, 2]
    # The second target was removed meanwhile.
    assert [one.process for one in snapshots.add(text, [2])] == [2]
    assert [one.process for one in snapshots.add(lines(1.0, ONE), [None])] == [None]


def test_incomplete_snapshots_are_lost_and_counted() -> None:
    snapshots = Snapshots(0.0)
    text = lines(0.5, ONE[:1], count=2) + lines(1.0, OTHER)
    assert [one.regions for one in snapshots.add(text, [0])] == [tuple(OTHER)]
    assert snapshots.lost == 1
    list(snapshots.add("CPU:1 [LOST 12 EVENTS]\n", [0]))
    assert snapshots.lost == 2
