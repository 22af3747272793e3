# SPDX-License-Identifier: GPL-2.0
"""Schemes for the memory of a node or tier: which kdamond runs them, on which addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.schemes import damon, nodes, text
from kloc.schemes.nodes import Nodes
from kloc.schemes.sysfs import KDAMONDS, Attributes, Physical, Processes
from support import fake_damon

TIER = text.load("damon-tier")

ONE_SOCKET = Nodes({"fast": [0], "slow": [1]}, {})
TWO_SOCKETS = Nodes(
    {"fast": [0, 1], "slow": [2, 3]}, {(0, 2): 17, (0, 3): 28, (1, 2): 28, (1, 3): 17}
)

ZONES = """\
Node 0, zone      DMA
        spanned  4095
  start_pfn:           1
Node 0, zone   Normal
        spanned  4096
  start_pfn:           4096
Node 1, zone   Normal
        spanned  8192
  start_pfn:           8192
Node 1, zone  Movable
        spanned  0
"""
RAM = ((0x1000, 0x1800000), (0x1900000, 0x5000000))


def system(root: Path, tiers: dict[str, str]) -> None:
    """Make the files of a system with the nodes 0 and 1 below `root`."""
    for name, listed in tiers.items():
        folder = root / nodes.MEMORY_TIERS.lstrip("/") / name
        folder.mkdir(parents=True)
        (folder / "nodelist").write_text(f"{listed}\n")
    for node, row in ((0, "10 17"), (1, "17 10")):
        folder = root / nodes.NODES.lstrip("/") / f"node{node}"
        folder.mkdir(parents=True)
        (folder / "distance").write_text(f"{row}\n")
    (root / "proc").mkdir()
    (root / nodes.ZONEINFO.lstrip("/")).write_text(ZONES)


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


def test_a_node_has_the_ram_of_its_zones() -> None:
    assert nodes.within(0, RAM, ZONES, 4096) == [
        (0x1000, 0x1000000),
        (0x1000000, 0x1800000),
        (0x1900000, 0x2000000),
    ]
    assert nodes.within(1, RAM, ZONES, 4096) == [(0x2000000, 0x4000000)]
    assert nodes.within(2, RAM, ZONES, 4096) == []


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
