# SPDX-License-Identifier: GPL-2.0
"""Page use by kind: merged kinds, groups of plots, and observed runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.machine import model_config, profile
from kloc.measure import object_use, workload
from kloc.measure.workload import FULL, QUICK
from support.made_up import OBJECTS


def test_slabs_of_the_journal_and_of_sockets_are_merged() -> None:
    uses = object_use.uses(OBJECTS)
    assert set(uses) == {
        "other",
        "anon",
        "file",
        "slab:dentry",
        "slab:kmalloc-8",
        "slab:kmalloc-16",
        "journal",
        "socket",
    }
    assert (uses["journal"].allocated, uses["journal"].references) == (17, 5)
    assert uses["journal"].lifetimes == {(8, 9): 3, (16, 18): 1}
    assert uses["journal"].alive_at_end == 13
    assert (uses["socket"].allocated, uses["other"].references) == (10, 3)


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        ("shmem", "application"),
        ("file", "page cache"),
        ("slab:dentry", "slab"),
        ("stack", object_use.OTHER),
        ("a future kind", object_use.OTHER),
    ],
)
def test_every_kind_has_a_group_in_plots(kind: str, group: str) -> None:
    assert object_use.group(kind) == group


def test_runs_are_observed_with_a_small_and_a_large_input() -> None:
    tasks = object_use.tasks(workload.load("redis"), profile.load("tiered"), 1)
    assert [task.size for task in tasks.values()] == [QUICK, FULL]
    memory = {"fast": "/fast", "slow": "/slow", "page": "/page"}
    for task in tasks.values():
        assert "\nobserve=1\n" in model_config.model_config(task.job(), Path("/run"), memory)
