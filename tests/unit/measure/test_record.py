# SPDX-License-Identifier: GPL-2.0
"""Results of runs: made from the raw output of the machine, with notes."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from kloc.machine import profile
from kloc.machine.job import Job, Raw
from kloc.measure import policy, record
from kloc.measure.workload import Outcome
from support.made_up_raw import MODEL, run

WARNING = "[1.0] WARNING: CPU: 0 PID: 1\n"
KEYS = [
    "workload",
    "policy",
    "settings",
    "machine",
    "seed",
    "size",
    "cores",
    "operations",
    "seconds",
    "throughput",
    "latency_ns",
    "instructions",
    "stall_ns",
    "misses",
    "storage_wait_ns",
    "idle_ns",
    "background",
    "background_excess_ns",
    "pages",
    "migrated_pages",
    "moved_pages",
    "traffic_bytes",
    "series",
    "hint_faults",
    "vmstat",
    "contexts",
    "clock_error",
    "computed",
    "notes",
]
"""The keys of a record. Later versions may add keys at the end, but keep these in this order."""


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


def test_keys_keep_their_order_in_result_files() -> None:
    result = run()
    assert list(result) == KEYS
    assert list(result["machine"]) == [
        "name",
        "variant",
        "slow_bandwidth",
        "fast_bytes",
        "slow_bytes",
        "background",
    ]
    assert list(run(model={**MODEL, "objects": {}})) == [*KEYS, "objects"]


def test_a_computed_record_has_the_keys_of_its_source_without_measured_figures() -> None:
    oracle = record.computed(run("all-slow"), b"", policy.load("oracle"), 1)
    assert list(oracle) == [
        "workload",
        "machine",
        "seed",
        "size",
        "cores",
        "operations",
        "instructions",
        "policy",
        "settings",
        "seconds",
        "throughput",
        "latency_ns",
        "computed",
        "oracle",
        "notes",
    ]
    assert oracle["computed"] and "all-slow" in oracle["notes"][0]


def test_page_kinds_of_a_placement_are_recorded() -> None:
    job = Job("w", profile.read("tiered"), {})
    raw = Raw(dict.fromkeys(("vmstat_begin", "vmstat_end"), ""), MODEL, None, "")
    placed = replace(policy.load("all-slow"), fast_kinds=("anon",))
    result = record.from_raw(job, placed, Outcome(1, None), raw)
    assert result["placement"] == {"fast": ["anon"]}
