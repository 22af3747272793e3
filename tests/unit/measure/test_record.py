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
    "cold",
    "cores",
    "spare_cores",
    "operations",
    "seconds",
    "throughput",
    "latency_ns",
    "instructions",
    "by_core",
    "stall_ns",
    "misses",
    "waits_ns",
    "tlb",
    "storage_wait_ns",
    "idle_ns",
    "background",
    "pages",
    "migrated_pages",
    "moved_pages",
    "traffic_bytes",
    "unserved_ns",
    "series",
    "warm_up",
    "hint_faults",
    "vmstat",
    "tiering",
    "clock_error",
    "inputs",
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
    assert (result["seed"], result["cores"], result["spare_cores"]) == (3, 4, 1)


def test_figures_and_notes_of_the_workload_are_kept() -> None:
    said = Outcome(100, None, {"lost operations": 7.0}, ("it never came back",))
    result = run("stock", outcome=said)
    assert result["figures"] == {"lost operations": 7.0}
    assert result["notes"] == ["it never came back"]
    assert "figures" not in run("stock")


def test_idle_time_is_that_of_the_workloads_cores() -> None:
    assert run()["idle_ns"] == 1 + 2 + 3 + 4


def test_storage_wait_is_the_change_of_iowait() -> None:
    assert run()["storage_wait_ns"] == 3 * 10_000_000


def test_kernel_threads_have_their_run_time_and_moved_pages() -> None:
    assert run()["background"] == {"kswapd0": {"time_ns": 7, "migrated": 4}}


def test_a_warm_up_has_its_slices() -> None:
    warm_up = run()["warm_up"]
    assert warm_up["seconds"] == 3.0 and warm_up["settled"]
    assert warm_up["slices"][0] == {"time_ns": 900, "moved_pages": 7}
    assert warm_up["series"]["pages_slow"] == {"anon": [5]}


def test_a_machine_that_has_not_settled_is_noted() -> None:
    (note,) = run("stock", settled=False, slices=16)["notes"]
    assert note == "had not settled after a warm-up of 16 slices"


def test_a_warm_up_that_is_too_short_to_tell_is_noted() -> None:
    (note,) = run("stock", settled=False, slices=1)["notes"]
    assert "1 slice does not show" in note


def test_a_cold_run_is_noted() -> None:
    result = run("stock", warm_up=None, cold=True)
    assert result["warm_up"] is None and result["cold"]
    assert result["notes"] == ["measured cold: there was no warm-up"]


def test_a_workload_that_cannot_be_repeated_is_noted() -> None:
    result = run("stock", warm_up=None)
    assert result["warm_up"] is None and not result["cold"]
    (note,) = result["notes"]
    assert "cold" in note and "cannot be repeated" in note


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


UNDESCRIBED = {
    **MODEL,
    "layout_known": False,
    "migrated": {"promoted": {"anon": 0}, "demoted": {"file": 0}},
    "series": {**MODEL["series"], "promoted": [0, 0], "demoted": [0, 0], "moved": {}},
}
"""The model's report of a kernel that this project did not build."""


def test_a_kernel_without_the_driver_is_noted_and_its_own_counters_are_taken() -> None:
    result = run(model=UNDESCRIBED)
    assert result["migrated_pages"] == {"promoted": {"unknown": 0}, "demoted": {"unknown": 6}}
    assert set(result["series"]) == {"t_ns"}
    assert result["pages"] == {}
    assert "migrated_pages" not in result["warm_up"]
    note, idle = result["notes"]
    assert "driver" in note and "kinds" in note and "vmstat" in note
    assert idle == "no page was promoted"


def test_counts_of_the_kernels_policy_are_kept_with_their_change() -> None:
    begin = "file/demoted_inactive 5\nfile/placed_fast 7\nknodes 2\n"
    end = "file/demoted_inactive 9\nfile/placed_fast 7\nknodes 1\n"
    assert run(more={"tiering_begin": begin, "tiering_end": end})["tiering"] == {
        "changed": {"file/demoted_inactive": 4, "knodes": -1},
        "end": {"file/demoted_inactive": 9, "file/placed_fast": 7, "knodes": 1},
    }
    assert run()["tiering"] == {}


def test_slabs_that_can_move_are_kept() -> None:
    table = "cache\tfast\tslow\ndentry\t5\t7\n"
    assert run(more={"slabs": table})["slabs"] == {"dentry": {"fast": 5, "slow": 7}}
    # A kernel that has none prints the head line alone.
    assert "slabs" not in run(more={"slabs": "cache\tfast\tslow\n"})
    assert "slabs" not in run()


def test_settings_that_the_kernel_lacks_are_noted() -> None:
    (note,) = run("stock", more={"absent": "/proc/sys/a\n/sys/b\n"})["notes"]
    assert note.endswith(": /proc/sys/a, /sys/b")


def test_a_kernel_that_does_not_tell_tiers_apart_is_noted() -> None:
    assert run("stock", more={"tiers": "2"})["notes"] == []
    (note,) = run("stock", more={"tiers": "1"})["notes"]
    assert "in one tier" in note


def test_keys_keep_their_order_in_result_files() -> None:
    result = run()
    assert list(result) == KEYS
    assert list(result["machine"]) == [
        "name",
        "variant",
        "slow_bandwidth",
        "fast_bytes",
        "slow_bytes",
    ]
    assert list(run(model={**MODEL, "objects": {}})) == [*KEYS, "objects"]


def test_page_kinds_of_a_placement_are_recorded() -> None:
    job = Job("w", profile.read("tiered"), {})
    texts = dict.fromkeys(("vmstat_begin", "vmstat_end", "kthreads_begin", "kthreads_end"), "")
    stats = dict.fromkeys(("stat_begin", "stat_end"), "cpu 0 0 0 0 0 0 0")
    raw = Raw({**texts, **stats}, MODEL, None, "")
    placed = replace(policy.load("all-slow"), fast_kinds=("anon",))
    result = record.from_raw(job, placed, Outcome(1, None), raw)
    assert result["placement"] == {"fast": ["anon"]}
