# SPDX-License-Identifier: GPL-2.0
"""The cgroup of a run: its CPU time and memory, and its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.native.group import Group
from kloc.server import system

NUMA_STAT = """\
anon N0=4096 N1=8192
file N0=1000 N1=2000
kernel_stack N0=1 N1=0
pagetables N0=2 N1=0
shmem N0=500 N1=0
slab_reclaimable N0=10 N1=20
slab_unreclaimable N0=0 N1=5
workingset_refault_anon N0=7 N1=7
"""


@pytest.fixture
def cgroups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of cgroups, which has the file by which processes are moved."""
    monkeypatch.setattr(system, "ROOT", tmp_path)
    root = tmp_path / "sys/fs/cgroup"
    root.mkdir(parents=True)
    (root / "cgroup.procs").touch()
    return root


def test_a_server_without_cgroup_v2_has_no_group(cgroups: Path) -> None:
    (cgroups / "cgroup.procs").unlink()
    assert Group.make() is None


def test_a_group_is_made_and_removed_and_a_left_one_used_again(cgroups: Path) -> None:
    for _ in range(2):
        group = Group.make()
        assert group is not None and (cgroups / "kloc-native").is_dir()
    assert group is not None
    group.close()
    assert not (cgroups / "kloc-native").exists()


def test_cpu_time_is_in_ns(cgroups: Path) -> None:
    group = Group.make()
    assert group is not None
    (cgroups / "kloc-native/cpu.stat").write_text("usage_usec 5\nuser_usec 3\nsystem_usec 2\n")
    assert group.cpu_ns() == {"user": 3000, "system": 2000}


def test_memory_is_by_tier_and_kind(cgroups: Path) -> None:
    group = Group.make()
    assert group is not None
    assert group.memory({"fast": [0], "slow": [1]}) is None
    (cgroups / "kloc-native/memory.numa_stat").write_text(NUMA_STAT)
    assert group.memory({"fast": [0], "slow": [1]}) == {
        # File pages have those of shmem.
        "fast": {"anon": 4096, "file": 1000, "kernel": 13},
        "slow": {"anon": 8192, "file": 2000, "kernel": 25},
    }
