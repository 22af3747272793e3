# SPDX-License-Identifier: GPL-2.0
"""The nodes of memory of the running kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.server import memory, system
from kloc.server.memory import Node
from support import made_up_nodes

FAST = Node("fast", {"Normal": 1}, False)
MOVABLE = Node("slow", {"Movable": 1}, False)
NORMAL = Node("slow", {"Normal": 1, "Movable": 1}, False)


def test_nodes_have_tiers_zones_and_the_state_of_kswapd(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path)
    assert memory.read_nodes() == {}
    made_up_nodes.make(tmp_path, tiers=((0,), (1, 2)), unreclaimable=(2,))
    pages = made_up_nodes.GIB // made_up_nodes.PAGE
    assert memory.read_nodes() == {
        0: Node("fast", {"Normal": pages}, False),
        1: Node("slow", {"Movable": pages}, False),
        2: Node("slow", {"Normal": pages}, True),
    }


@pytest.mark.parametrize(
    ("slow", "words"),
    [
        ((MOVABLE,), "no slab is demoted: all memory of node 1 is in ZONE_MOVABLE"),
        ((MOVABLE, MOVABLE), "no slab is demoted: all memory of nodes 1, 2 is in ZONE_MOVABLE"),
        ((NORMAL, MOVABLE), "all memory of node 2 is in ZONE_MOVABLE"),
        ((NORMAL, NORMAL), ""),
    ],
)
def test_slow_memory_without_slabs_is_named(slow: tuple[Node, ...], words: str) -> None:
    nodes = dict(enumerate((FAST, *slow)))
    found = list(memory.remarks(nodes, "kloc", moves_slabs=True))
    assert len(found) == bool(words) and "".join(found).startswith(words)
    assert list(memory.remarks(nodes, "kloc", moves_slabs=False)) == []


@pytest.mark.parametrize(
    ("tier", "policy", "how"),
    [
        ("fast", "kloc", "echo none > /sys/kernel/mm/tiering/policy, then echo kloc > "),
        ("fast", "none", "echo 64M > /sys/fs/cgroup/memory.reclaim"),
        ("slow", "kloc", "echo 64M > /sys/fs/cgroup/memory.reclaim"),
        (None, "none", "echo 64M > /sys/fs/cgroup/memory.reclaim"),
    ],
)
def test_a_kswapd_that_has_given_up_is_named(tier: str | None, policy: str, how: str) -> None:
    nodes = {0: FAST, 3: Node(tier, {"Normal": 1}, True)}
    (found,) = memory.remarks(nodes, policy, moves_slabs=False)
    assert found.startswith("kswapd of node 3 has given up") and how in found
