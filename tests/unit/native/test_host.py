# SPDX-License-Identifier: GPL-2.0
"""What a native comparison says of its server, and where it is refused."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.native import host
from kloc.server import system
from support import made_up_tiers


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(system, "ROOT", made_up_tiers.make(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def test_two_tiers_are_what_is_needed(server: Path) -> None:
    host.check()
    assert host.tiers() == {"fast": [0], "slow": [1]}


def test_only_root_may_set_policies(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(KlocError, match="only root") as error:
        host.check()
    assert "sudo" in str(error.value.hint)


def test_one_node_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = made_up_tiers.make(tmp_path)
    (root / "proc/zoneinfo").write_text("Node 0, zone Normal\n spanned 9\n managed 9\n")
    monkeypatch.setattr(system, "ROOT", root)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(KlocError, match="all memory is on node 0") as error:
        host.check()
    assert "hmat=on" in str(error.value.hint) and "numa=fake=2" in str(error.value.hint)


def test_one_tier_is_refused_with_what_to_do(server: Path) -> None:
    tiers = server / "sys/devices/virtual/memory_tiering"
    (tiers / "memory_tier4/nodelist").write_text("0-1\n")
    shutil.rmtree(tiers / "memory_tier104")
    with pytest.raises(KlocError, match="one tier") as error:
        host.check()
    assert "kloc doctor --server" in str(error.value.hint)


def test_nodes_are_described_with_what_the_firmware_says(server: Path) -> None:
    described = host.describe()
    assert described["cpu"] == "Made-up CPU"
    assert described["tiers"] == ["0", "1"]
    fast, slow = described["nodes"]["0"], described["nodes"]["1"]
    assert (fast["tier"], fast["cpus"], fast["latency_ns"]) == ("fast", "0-3", 80)
    assert (slow["tier"], slow["cpus"], slow["latency_ns"]) == ("slow", "", 180)
    assert (fast["bandwidth"], slow["bandwidth"]) == (64, 32)
    assert fast["bytes"] == 1 << 30


def test_firmware_that_says_nothing_is_left_out(server: Path) -> None:
    shutil.rmtree(server / "sys/devices/system/node/node1/access1")
    assert "latency_ns" not in host.describe()["nodes"]["1"]


def test_memory_of_each_tier_is_added_up(server: Path) -> None:
    assert host.node_bytes() == {
        "fast": {"total": 1 << 30, "used": 768 << 20},
        "slow": {"total": 1 << 30, "used": 256 << 20},
    }
