# SPDX-License-Identifier: GPL-2.0
"""The workload shift: what counts as lost, and that lost keys or requests are noticed."""

from __future__ import annotations

import re
import sys

import pytest

from kloc.measure import workload
from kloc.measure.workload import FULL, QUICK, Outcome, WorkloadFailed

SLICE = 5_000_000
KEYS = 30_000


def outcome(
    slices: list[int], moved: float, ended: float | None = None, keys: int = KEYS, errors: int = 0
) -> Outcome:
    """Return the outcome of a run; `moved` and `ended` are in slices."""
    end = len(slices) if ended is None else ended
    lines = [f"requests {sum(slices)}", f"moved {int(moved * SLICE)}", f"ended {int(end * SLICE)}"]
    lines += [f"slice {number} {count}" for number, count in enumerate(slices)]
    lines += ["time 1000 1100 3", "time 2000 2200 1"]
    check = f"keys {keys}\nerrors {errors}\n" * 2
    return workload.load("shift").outcome({"measured": "\n".join(lines), "check": check}, FULL)


def lost(slices: list[int], moved: float, ended: float | None = None) -> float:
    found = outcome(slices, moved, ended)
    assert not found.notes
    return found.figures["lost operations"]


def test_operations_are_lost_from_the_move_until_the_rate_is_back() -> None:
    assert lost([100, 100, 100, 100, 40, 60, 95, 96, 97, 10], 4.5) == 60 + 40


def test_one_good_slice_is_not_the_rate_back() -> None:
    assert lost([100] * 4 + [40, 100, 60, 95, 95, 95], 4.0) == 60 + 0 + 40


def test_slices_that_do_more_than_before_make_up_for_others() -> None:
    assert lost([100] * 4 + [40, 120, 60, 100, 100, 100], 4.0) == 60 - 20 + 40


def test_the_rate_before_is_that_of_the_second_half_until_the_move() -> None:
    assert lost([20, 60, 100, 100, 40, 100, 100, 100], 4.0) == 60


def test_the_last_slice_is_as_short_as_it_was() -> None:
    assert lost([100] * 4 + [40, 100, 100, 50], 4.0, 7.5) == 60


def test_nothing_is_lost_by_a_policy_whose_rate_stays() -> None:
    assert lost([100] * 8, 4.2) == 0


def test_all_remaining_time_counts_if_the_rate_does_not_come_back() -> None:
    found = outcome([100] * 4 + [40, 94, 95, 95], 4.0)
    assert found.figures["lost operations"] == 60 + 6 + 5 + 5
    (note,) = found.notes
    assert "did not come back" in note


def test_operations_and_latencies_are_those_of_the_clients() -> None:
    found = outcome([100] * 8, 4.0)
    assert found.operations == 800
    assert found.latency_ns == {
        "p50": pytest.approx(1066.7, abs=0.1),
        "p95": pytest.approx(2160),
        "p99": pytest.approx(2192),
    }


def test_a_run_that_did_not_do_its_work_fails() -> None:
    with pytest.raises(WorkloadFailed, match="keys 30000"):
        outcome([100] * 8, 4.0, keys=KEYS - 1)
    with pytest.raises(WorkloadFailed, match="errors 0"):
        outcome([100] * 8, 4.0, errors=1)
    with pytest.raises(WorkloadFailed, match="first slice"):
        outcome([100] * 8, 0.5)
    complete = {"measured": "requests 9\nmoved 1\nended 2\nslice 0 8\n", "check": ""}
    complete["check"] = f"keys {KEYS}\nerrors 0\n" * 2
    with pytest.raises(WorkloadFailed, match="8 of 9 requests"):
        workload.load("shift").outcome(complete, FULL)
    with pytest.raises(WorkloadFailed, match="did not finish"):
        workload.load("shift").outcome({**complete, "measured": "requests 9\n"}, FULL)


@pytest.mark.parametrize("size", [FULL, QUICK])
def test_the_warm_up_stays_with_the_first_hot_set_and_the_region_moves_to_another(
    size: workload.Size,
) -> None:
    shift = workload.load("shift")
    slices = shift.slices(size, 1)
    assert slices

    def options(script: str) -> dict[str, str]:
        (line,) = re.findall(r"^redis_clients run (.*)$", script, re.M)
        return dict(re.findall(r"(\w+)=(\$\(\(.*?\)\)|\S+)", line))

    warm, measured = options(slices), options(shift.measured(size, 1))
    assert {name for name in warm if warm[name] != measured[name]} == {"requests", "seed", "to"}
    assert warm["from"] == warm["to"] == measured["from"] == "0"
    # The two hot sets share no key.
    assert (
        int(measured["hot"]) <= int(measured["to"]) <= int(measured["keys"]) - int(measured["hot"])
    )
    assert 8 * int(warm["requests"]) == pytest.approx(int(measured["requests"]), rel=0.01)
    assert measured["seed"] == "1" and "1000" in warm["seed"]


def test_the_slices_are_those_of_the_program() -> None:
    module = sys.modules[workload.load("shift").outcome.__module__]
    source = (workload.SOURCES / "redis_clients.c").read_text()
    assert f"#define SLICE_NS {module.SLICE_NS}\n" in source
    assert module.SLICE_NS == SLICE
