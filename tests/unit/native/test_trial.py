# SPDX-License-Identifier: GPL-2.0
"""The parts of a run: their order, and the notes on what it did not show."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.measure.workload import Outcome
from kloc.native import counters, group, trial
from kloc.native.subject import Subject


def subject(*scripts: str, slices: int = 0) -> Subject:
    made = dict.fromkeys(scripts, "true\n")
    return Subject("x", lambda _: made, lambda _: Outcome(1, None), slices, True, {})


def test_the_load_has_its_steps_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[Any, ...]] = []

    class Box:
        def step(self, *words: Any) -> None:
            steps.append(words)

    monkeypatch.setattr(counters, "drop_page_cache", lambda: steps.append(("drop",)))
    of_all = subject("start", "measured", "warm", "setup", "prepare", "check", slices=2)
    trial._load(Box(), of_all, 1)  # type: ignore[arg-type]
    assert steps == [("prepare",), ("drop",), ("setup",), ("warm", 1), ("warm", 2), ("start",)]


def measured(slow: int, moved: int, memory: bool = True) -> dict[str, Any]:
    """Return what was counted in a run with so much slow memory, and so many moved pages."""
    tiers = {"fast": {"anon": 5 << 20}, "slow": {"anon": slow}}
    end = {
        "cpu": {"user": 3, "system": 2},
        "memory": tiers if memory else None,
        "counts": {"pgpromote_success": 7 + moved},
        "node": {},
    }
    begin = {**end, "cpu": {"user": 1, "system": 1}, "counts": {"pgpromote_success": 7}}
    return {"seconds": 2.0, "begin": begin, "end": end, "perf": {}}


def test_a_program_that_fits_into_fast_memory_has_a_note() -> None:
    (note,) = trial._remarks(measured(0, 0))
    assert "fits into fast memory" in note and "--load" in note
    assert trial._remarks(measured(2 << 20, 0)) == []
    assert trial._remarks(measured(0, 5)) == []


def test_unknown_memory_has_a_note() -> None:
    assert trial._remarks(measured(0, 0, memory=False)) == [group.NO_MEMORY]


def test_a_result_has_the_differences_of_the_measured_part() -> None:
    result = trial._result(Outcome(10, {"p50": 5.0}), measured(1, 5))
    assert (result["operations"], result["seconds"], result["throughput"]) == (10, 2.0, 5.0)
    assert result["cpu_ns"] == {"user": 2, "system": 1}
    assert result["migrated_pages"]["promoted"] == {"lru": 5, "slab": 0}
    assert result["counters"] == {"pgpromote_success": 5}
    assert "perf" not in result and "figures" not in result
