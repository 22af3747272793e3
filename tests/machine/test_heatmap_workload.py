# SPDX-License-Identifier: GPL-2.0
"""The heat map of a workload in the machine: it has the workload's process, and repeats itself.

That of physical memory has the kinds of pages at the end of the measured region.
"""

from __future__ import annotations

import pytest

from kloc.heat import grid, kinds, layout
from kloc.heat.records import Record
from kloc.machine import profile
from kloc.measure import heat_map, policy
from kloc.measure.runner import measure, prepare
from kloc.measure.task import Task
from kloc.measure.workload import FULL, Outcome, Workload
from kloc.schemes.sysfs import Attributes

pytestmark = pytest.mark.machine

ATTRIBUTES = Attributes(500, 10_000, 50_000, 10, 200)

PROGRAM = (
    "BEGIN { for (i = 0; i < 200000; i++) a[i] = i; while (1) for (i = 0; i < 200000; i++) a[i]++ }"
)
"""Uses some MiB over and over: more pages than the TLB has entries (docs/heatmap.md, "Limits")."""

WORKLOAD = Workload(
    name="busy",
    summary="a process that computes",
    packages=(),
    setup=lambda size, seed: f"mawk '{PROGRAM}' & echo $! >/run/busy\nsleep 0.1\n",
    measured=lambda size, seed: "sleep 0.2\n",
    check=lambda size, seed: "kill $(cat /run/busy)\necho ended\n",
    outcome=lambda printed, size: Outcome(printed["check"].count("ended"), None),
    repeatable=False,
    instructions=5e9,
)


def record(physical: bool = False) -> Record:
    host, used = profile.load(profile.DEFAULT), policy.load("stock")
    changed, found = heat_map.recorded(WORKLOAD, host, ATTRIBUTES, physical)
    (run,) = measure([Task(changed, used, host, 1, FULL)], [used], prepare([WORKLOAD]))
    assert run["operations"] == 1
    return heat_map.record(found.text, "busy", "6.12", host, ATTRIBUTES, physical)


def test_a_workloads_process_is_recorded_and_the_same_seed_gives_the_same_map() -> None:
    first = record()
    assert [one.name for one in first.processes] == ["mawk"]
    assert first.lost == 0
    (mark,) = first.marks
    assert 0.15 < first.seconds - mark.time < 0.3
    assert sum(one.time > mark.time for one in first.snapshots) > 10
    table = grid.regions(first)
    (hottest,) = layout.parts(first, table, 1)
    assert grid.heat(table, 0, (hottest.start, hottest.end)) > 0
    assert record() == first


def test_physical_memory_has_the_kinds_of_its_pages_which_the_same_seed_repeats() -> None:
    found = record(physical=True)
    pages = kinds.between(found.kinds, 0, found.memory[-1].end)
    # All but the DMA zone, most of which the kernel may not use.
    assert sum(pages.values()) * 4096 > 0.98 * sum(one.end - one.start for one in found.memory)
    mib = {kind: count * 4096 / (1 << 20) for kind, count in pages.items()}
    # The process has some MiB, and is still there.
    assert 4 < mib["anonymous"] < 64
    assert mib["slab"] > 1 and mib["page tables"] > 0.1 and mib["file"] > 1
    slow = kinds.shares(found.kinds, (found.memory[1].start, found.memory[1].end))
    assert slow["free"] > 0.9
    assert record(physical=True) == found
