# SPDX-License-Identifier: GPL-2.0
"""Schemes for the memory of a node or tier: which kdamond runs them, on which addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kloc.base import numa
from kloc.base.errors import KlocError
from kloc.schemes import damon, nodes, text
from kloc.schemes.nodes import Nodes
from kloc.schemes.sysfs import KDAMONDS, Attributes, Physical, Processes
from support import fake_damon
from support.made_up_nodes import ZONES

TIER = text.load("damon-tier")

ONE_SOCKET = Nodes({"fast": [0], "slow": [1]}, {})
TWO_SOCKETS = Nodes(
    {"fast": [0, 1], "slow": [2, 3]}, {(0, 2): 17, (0, 3): 28, (1, 2): 28, (1, 3): 17}
)

RAM = ((0x1000, 0x1800000), (0x1900000, 0x5000000))


def system(root: Path, tiers: dict[str, str]) -> None:
    """Make the files of a system with the nodes 0 and 1 below `root`."""
    for name, listed in tiers.items():
        folder = root / numa.MEMORY_TIERS.lstrip("/") / name
        folder.mkdir(parents=True)
        (folder / "nodelist").write_text(f"{listed}\n")
    for node, row in ((0, "10 17"), (1, "17 10")):
        folder = root / numa.NODES.lstrip("/") / f"node{node}"
        folder.mkdir(parents=True)
        (folder / "distance").write_text(f"{row}\n")
    (root / "proc").mkdir()
    (root / numa.ZONEINFO.lstrip("/")).write_text(ZONES)


def moves(found: list[tuple[int | None, list[Any]]]) -> list[tuple[int | None, str, Any]]:
    return [(node, one.action, one.node) for node, ran in found for one in ran]


def test_each_node_has_the_schemes_for_its_tier() -> None:
    found = nodes.placed(TIER, ONE_SOCKET)
    assert moves(found) == [(0, "migrate_cold", 1), (1, "migrate_hot", 0)]


def test_memory_moves_to_the_nearest_node_of_a_tier() -> None:
    back = {(one, other): far for (other, one), far in TWO_SOCKETS.distances.items()}
    found = nodes.placed(TIER, Nodes(TWO_SOCKETS.tiers, {**TWO_SOCKETS.distances, **back}))
    cold = [(0, "migrate_cold", 2), (1, "migrate_cold", 3)]
    assert moves(found) == [*cold, (2, "migrate_hot", 0), (3, "migrate_hot", 1)]


def test_distances_that_one_direction_lacks_are_those_of_the_other() -> None:
    # Nodes of CXL without CPUs: their rows in the firmware's table have no distances.
    back = {(one, other): 255 for (other, one) in TWO_SOCKETS.distances}
    nodes_ = Nodes(TWO_SOCKETS.tiers, {**TWO_SOCKETS.distances, **back})
    hot = [move for move in moves(nodes.placed(TIER, nodes_)) if move[1] == "migrate_hot"]
    assert hot == [(2, "migrate_hot", 0), (3, "migrate_hot", 1)]
    assert list(nodes.left_out(TIER, nodes_, [0, 1, 2, 3])) == []


def test_nodes_that_are_equally_near_are_shared() -> None:
    unknown = {(one, other): 255 for one in range(4) for other in range(4)}
    found = nodes.placed(TIER, Nodes(TWO_SOCKETS.tiers, unknown))
    cold = [(0, "migrate_cold", 2), (1, "migrate_cold", 3)]
    assert moves(found) == [*cold, (2, "migrate_hot", 0), (3, "migrate_hot", 1)]


def test_nodes_that_get_nothing_are_named() -> None:
    one_slow = Nodes({"fast": [0, 1], "slow": [2]}, {(2, 0): 17, (2, 1): 28, (0, 2): 17})
    assert list(nodes.left_out(TIER, one_slow, [0, 1, 2])) == [
        "no memory moves to node 1: that of each node moves to one node of fast memory, the nearest"
    ]


def test_memory_that_no_scheme_is_for_is_named() -> None:
    by_number = text.parse("4K max min min 1s max migrate_cold from=0 node=2", "f")
    assert list(nodes.left_out(by_number, TWO_SOCKETS, [0, 1, 2])) == [
        "no scheme is for the memory of node 1",
        "no scheme is for the memory of node 2",
    ]
    everything = text.parse("4K max min min 1s max pageout", "f")
    assert list(nodes.left_out(everything, TWO_SOCKETS, [0, 1, 2])) == []


def test_schemes_of_one_node_share_its_kdamond_and_others_have_all_memory() -> None:
    content = "4K max min min 1s max pageout from=1\n4K max min max min max stat\n"
    content += "4K max 1 max min max migrate_hot from=slow node=0\n"
    found = nodes.placed(text.parse(content, "f"), ONE_SOCKET)
    assert moves(found) == [(1, "pageout", None), (1, "migrate_hot", 0), (None, "stat", None)]
    assert nodes.placed([], ONE_SOCKET) == [(None, [])]


def test_moving_all_memory_to_one_of_several_nodes_is_an_error() -> None:
    schemes = text.parse("4K max min min 1s max migrate_cold node=slow", "f")
    assert moves(nodes.placed(schemes, ONE_SOCKET)) == [(None, "migrate_cold", 1)]
    with pytest.raises(KlocError, match="slow memory has several nodes, 2, 3"):
        nodes.placed(schemes, TWO_SOCKETS)


def test_a_node_has_its_own_blocks_where_zones_overlap(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    system(tmp_path, {})
    zone = "Node {}, zone   Normal\n        spanned  {}\n  start_pfn:           {}\n"
    zoneinfo = zone.format(0, 4 << 15, 0) + zone.format(1, 3 << 15, 1 << 15)
    (tmp_path / numa.ZONEINFO.lstrip("/")).write_text(zoneinfo)
    ram = ((0, 4 << 27),)
    # Without files of blocks, nobody knows that node 0 has memory behind that of node 1.
    assert nodes.of_node(0, ram).ranges == ((0, 1 << 27),)
    for block, node in enumerate((0, 1, 0, 1)):
        (tmp_path / f"{numa.NODES}/node{node}/memory{block}".lstrip("/")).mkdir()
    size = tmp_path / numa.BLOCK_SIZE.lstrip("/")
    size.parent.mkdir(parents=True)
    size.write_text("8000000\n")
    assert nodes.of_node(0, ram).ranges == ((0, 1 << 27), (2 << 27, 3 << 27))
    assert nodes.of_node(1, ram).ranges == ((1 << 27, 2 << 27), (3 << 27, 4 << 27))


def test_two_kdamonds_run_and_both_are_stopped(monkeypatch: Any, tmp_path: Path) -> None:
    fake = fake_damon.install(monkeypatch, tmp_path)
    system(tmp_path, {"memory_tier4": "0", "memory_tier961": "1"})
    before = damon.read_all()
    parts = nodes.parts(TIER, Physical(RAM))
    with damon.taken() as taken:
        taken.run(parts, Attributes())
        cold, hot = damon.kdamonds()
        assert cold.running and hot.running
        assert damon.is_own(cold) and damon.is_own(hot)
        assert isinstance(hot.target, Physical) and hot.target.ranges == ((0x2000000, 0x4000000),)
        assert [one.node for one in (*cold.schemes, *hot.schemes)] == [1, 0]
        taken.keep()
    assert fake.running()
    assert damon.stop_kept()
    assert not fake.running()
    assert damon.read_all() == before
    stopped = [path for path, content in fake.written if content == "off"]
    assert stopped == [f"{KDAMONDS}/0/state", f"{KDAMONDS}/1/state"]


def test_without_two_tiers_a_tier_is_an_error(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    system(tmp_path, {"memory_tier4": "0-1"})
    with pytest.raises(KlocError, match="this system has no fast memory"):
        nodes.parts(TIER, Physical(RAM))
    # Numbers are always known; a node without memory is not.
    by_number = text.parse("4K max min min 1s max migrate_cold from=0 node=1", "f")
    assert len(nodes.parts(by_number, Physical(RAM))) == 1
    absent = text.parse("4K max min min 1s max migrate_cold from=7 node=1", "f")
    with pytest.raises(KlocError, match="node 7 has no memory"):
        nodes.parts(absent, Physical(RAM))


def test_all_tiers_below_that_of_the_cpus_are_slow(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    system(tmp_path, {"memory_tier4": "1", "memory_tier22": "0", "memory_tier961": "2-3"})
    assert nodes.of_system().tiers == {"fast": [1], "slow": [0, 2, 3]}
    (tmp_path / f"{numa.NODES}/has_cpu".lstrip("/")).write_text("0\n")
    assert nodes.of_system().tiers == {"fast": [0], "slow": [2, 3]}
    slow = text.parse("4K max min min 1s max pageout from=slow", "f")
    assert nodes.remarks(slow, Physical(RAM)) == [
        "no scheme is for the memory of node 0",
        "no scheme is for the memory of node 1",
    ]
    assert nodes.remarks(text.load("prcl"), Processes((12,))) == []


def test_processes_are_one_target() -> None:
    one = Processes((12,))
    schemes = text.load("prcl")
    assert nodes.parts(schemes, one) == [(one, schemes)]


@pytest.mark.parametrize(
    "line, problem",
    [
        ("4K max min min 1s max migrate_cold node=fats", "'fats' is not allowed here"),
        ("4K max min min 1s max migrate_cold from=fast node=fast", "memory of fast cannot move"),
        ("4K max min min 1s max cold from=fast", "cold takes no from="),
        ("4K max min min 1s max pageout from=x", "'x' is not allowed here"),
    ],
)
def test_mistakes_are_named(line: str, problem: str) -> None:
    with pytest.raises(KlocError, match=problem):
        text.parse(line, "f")


def test_text_of_a_scheme_for_a_tier_is_read_back() -> None:
    for one in TIER:
        assert text.parse(text.format_scheme(one), "f") == [one]
