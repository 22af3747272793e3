# SPDX-License-Identifier: GPL-2.0
"""Counters of moved pages, and the wait until pages move no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.native import counters
from kloc.server import system
from support import made_up_nodes, made_up_tiers


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(system, "ROOT", made_up_tiers.make(tmp_path))
    return tmp_path


def test_counters_are_those_of_vmstat_and_of_the_policy(server: Path) -> None:
    found = counters.read_all()
    assert (found["pgpromote_success"], found["file/demoted_unused"]) == (10, 1000)
    assert "nr_free_pages" not in found


def test_moves_are_those_of_vmstat_and_of_slabs() -> None:
    counts = {
        "pgpromote_success": 3,
        "pgpromote_candidate": 100,
        "pgdemote_kswapd": 5,
        "pgdemote_direct": 7,
        "slab/demoted_unused": 11,
        "slab/demoted_unused_freed": 1000,
        "slab/promoted_used": 13,
        # vmstat has counted these.
        "file/demoted_unused": 1000,
        "file/promoted_used": 1000,
    }
    assert counters.moves(counts) == {
        "promoted": {"lru": 3, "slab": 13},
        "demoted": {"lru": 12, "slab": 11},
    }


def test_a_change_is_that_of_each_counter() -> None:
    assert counters.change({"a": 1, "b": 2}, {"a": 5, "b": 2, "c": 3}) == {"a": 4, "b": 0, "c": 3}


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept, in parts; no other time passes."""
    parts: list[float] = []
    monkeypatch.setattr("kloc.native.counters.time.monotonic", lambda: sum(parts))
    monkeypatch.setattr("kloc.native.counters.time.sleep", parts.append)
    return parts


def test_the_wait_ends_when_no_page_moves(server: Path, slept: list[float]) -> None:
    assert counters.settle(60) == sum(slept) == counters.QUIET_SECONDS


def test_a_limit_below_the_usual_wait_is_enough(server: Path, slept: list[float]) -> None:
    assert counters.settle(1) == sum(slept) == 1


def test_the_wait_begins_again_with_each_move(
    server: Path, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) <= 4:
            made_up_nodes.write(server, "proc/vmstat", f"pgpromote_success {len(slept)}")

    monkeypatch.setattr("kloc.native.counters.time.sleep", sleep)
    assert counters.settle(60) == 4 * counters.LOOK_SECONDS + counters.QUIET_SECONDS


def test_the_wait_has_a_limit(
    server: Path, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(seconds: float) -> None:
        slept.append(seconds)
        made_up_nodes.write(server, "proc/vmstat", f"pgpromote_success {len(slept)}")

    monkeypatch.setattr("kloc.native.counters.time.sleep", sleep)
    assert counters.settle(5) is None
    assert sum(slept) == 5


def test_page_cache_is_dropped(server: Path) -> None:
    counters.drop_page_cache()
    assert (server / "proc/sys/vm/drop_caches").read_text() == "3\n"
