# SPDX-License-Identifier: GPL-2.0
"""Results of runs: made from the raw output of the machine, with notes."""

from __future__ import annotations

import copy

import pytest

from support.made_up_raw import MODEL, run

WARNING = "[1.0] WARNING: CPU: 0 PID: 1\n"


def test_result_has_the_figures_of_the_raw_output() -> None:
    result = run()
    assert result["throughput"] == 50
    assert result["hint_faults"] == 10
    assert result["clock_error"] == pytest.approx(5e-8)
    assert result["pages"] == {"fast": {"anon": 16}, "slow": {"anon": 4}}
    assert result["series"]["pages_fast"] == {"anon": [10, 21]}
    assert result["machine"]["name"] == "tiered"
    assert (result["seed"], result["cores"], result["computed"]) == (3, 1, False)


def test_a_policy_that_did_nothing_is_noted() -> None:
    idle = copy.deepcopy(MODEL)
    idle["migrated"] = {"promoted": {}, "demoted": {}}
    (note,) = run(model=idle)["notes"]
    assert "tpp did nothing" in note
    assert "promoted" in note and "demoted" in note


def test_a_policy_that_did_a_part_of_its_work_is_noted() -> None:
    (note,) = run()["notes"]
    assert "promoted" in note and "demoted" not in note


def test_a_policy_without_expectations_is_not_noted() -> None:
    assert run("stock")["notes"] == []


def test_evictions_are_noted_without_demotions() -> None:
    (note,) = run("stock", evicted=3)["notes"]
    assert note.startswith("3 pages") and "evicted" in note


def test_warnings_of_the_kernel_are_counted_in_its_log_or_else_on_the_console() -> None:
    (note,) = run("stock", console=WARNING)["notes"]
    assert "1 warning" in note
    log = WARNING + "[2.0] WARNING: possible circular locking\n"
    (note,) = run("stock", console=WARNING, log=log)["notes"]
    assert "2 warnings" in note


def test_a_clock_that_differs_from_simulated_time_is_noted() -> None:
    wrong = copy.deepcopy(MODEL)
    wrong["monotonic_ns"] *= 2
    (note,) = run("stock", model=wrong)["notes"]
    assert "clock" in note and "100.0 %" in note
