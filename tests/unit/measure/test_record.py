# SPDX-License-Identifier: GPL-2.0
"""Results of runs: made from the raw output of the machine, with notes."""

from __future__ import annotations

import copy
from dataclasses import replace

import msgspec
import pytest

from kloc.base import revision
from kloc.machine import profile
from kloc.machine.job import Job, Raw
from kloc.measure import policy, record
from kloc.measure.workload import Outcome
from support.made_up_raw import MODEL, VMSTAT, run

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
    "kloc",
    "idle_before_ns",
    "moved_by",
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


def test_cores_of_two_sockets_are_sorted_the_spare_ones_last() -> None:
    """The spare core of the first socket is between the workload's."""
    job = Job("w", profile.read("four-node"), {})
    model = {"cores": [{"idle_ns": cpu} for cpu in range(6)]}
    assert [core["idle_ns"] for core in record.by_core(job, model)] == [0, 1, 3, 4, 2, 5]


def test_misses_of_the_other_socket_are_kept() -> None:
    assert run(model={**MODEL, "remote_misses": 3})["remote_misses"] == 3
    assert "remote_misses" not in run()


def test_waits_for_promotions_are_those_of_the_region() -> None:
    """Buckets without a promotion in the region are left out."""
    file = "/sys/kernel/debug/tiering/promotion_ns"
    begin = f"file/demoted_old 3\n{file} 896 2\n{file} 1024 1\n"
    end = f"file/demoted_old 3\n{file} 512 1\n{file} 896 7\n{file} 1024 1\n"
    result = run(more={"tiering_begin": begin, "tiering_end": end})
    assert result["promotion_ns"] == {"512": 1, "896": 5}
    assert result["tiering"]["end"] == {"file/demoted_old": 3}
    assert "promotion_ns" not in run()


def test_storage_wait_is_the_change_of_iowait() -> None:
    assert run()["storage_wait_ns"] == 3 * 10_000_000


def test_idle_time_before_the_region_is_that_of_the_workloads_cores() -> None:
    """The last core is a spare one."""
    assert run()["idle_before_ns"] == 0
    result = run("stock", idle_before=[1, 2, 3, 2, 50])
    assert result["idle_before_ns"] == 8 * 10_000_000
    assert result["notes"] == []


def test_cores_that_wait_for_the_region_are_noted() -> None:
    (note,) = run("stock", idle_before=[30, 31, 29, 30, 0])["notes"]
    assert note == "cores were idle for 300 ms between warm-up and region"
    note = run("stock", idle_before=[30, 31, 29, 30, 0], warm_up=None)["notes"][1]
    assert "300 ms between load and region" in note


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
    assert note == "3 pages were evicted to storage"
    assert run("stock", evicted=1)["notes"] == ["1 page was evicted to storage"]


def test_pages_that_the_policy_demoted_are_not_taken_for_reclaimed_ones() -> None:
    # Four demoted pages in /proc/vmstat, all of them by the policy: reclaim has evicted all four.
    moved = {
        "tiering_begin": "",
        "tiering_end": "file/demoted_inactive 3\nanon/demoted_old 1\n"
        "file/demoted_inactive_freed 2\nslab/demoted_unused 9\n",
    }
    (note,) = run("stock", more=moved)["notes"]
    assert note.startswith("4 pages") and "evicted" in note


def test_warnings_of_the_kernel_are_counted_in_its_log_or_else_on_the_console() -> None:
    (note,) = run("stock", console=WARNING)["notes"]
    assert note.endswith("1 warning")
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


def damon_moves(promoted: int, demoted: int) -> dict[str, str]:
    """Return the frames of a region in which DAMON has moved so many pages."""
    text = "all {}\ndamon_promoted {}\ndamon_demoted {}\n"
    return {
        "moves_begin": text.format(5, 2, 3),
        "moves_end": text.format(5, 2 + promoted, 3 + demoted),
    }


def test_moves_by_damon_on_another_kernel_are_those_of_its_schemes() -> None:
    still = {"vmstat_end": VMSTAT.format(1, 1, 1, 1, 1, 1)}
    result = run("damon-tier", model=UNDESCRIBED, more={**damon_moves(7, 9), **still})
    assert result["migrated_pages"] == {"promoted": {"unknown": 7}, "demoted": {"unknown": 9}}
    assert [note for note in result["notes"] if "did nothing" in note] == []
    idle = run("damon-tier", model=UNDESCRIBED, more={**damon_moves(0, 0), **still})
    assert any("damon-tier did nothing here" in note for note in idle["notes"])


def test_moves_by_damon_are_those_that_the_model_has_seen() -> None:
    result = run("damon-tier", more=damon_moves(7, 9))
    assert result["migrated_pages"] == MODEL["migrated"]


@pytest.mark.parametrize(("mode", "promoted"), [("1", 300), ("2", 0)])
def test_hint_faults_without_tiers_promote_on_another_kernel(mode: str, promoted: int) -> None:
    job = Job("w", profile.load("tiered"), {}, settings={record.NUMA_BALANCING: mode})
    frames = {
        "vmstat_begin": "numa_pages_migrated 100\n",
        "vmstat_end": "numa_pages_migrated 400\n",
    }
    assert record.migrated(job, frames)["promoted"] == {"unknown": promoted}
    sockets = replace(job, profile=msgspec.structs.replace(job.profile, sockets=2))
    assert record.migrated(sockets, frames)["promoted"] == {"unknown": 0}


def test_slabs_that_have_moved_are_moves_of_the_policy() -> None:
    idle = {**MODEL, "migrated": {"promoted": {}, "demoted": {}}}
    counts = "slab/demoted_unused {0}\nslab/demoted_unused_freed {0}\nslab/promoted_used {1}\n"

    def notes(demoted: int, promoted: int) -> list[str]:
        frames = {"tiering_begin": counts.format(3, 3)}
        frames["tiering_end"] = counts.format(3 + demoted, 3 + promoted)
        return run("kloc-slab", model=idle, more=frames)["notes"]

    assert notes(5, 2) == []
    assert notes(5, 0) == ["no page was promoted"]
    assert notes(0, 0) == [
        "kloc-slab did nothing here: no page was promoted and no page was demoted"
    ]


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


def test_a_record_has_the_commit_of_kloc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revision, "commit", lambda: "0123456789ab, modified")
    assert run()["kloc"] == "0123456789ab, modified"


def test_page_kinds_of_a_placement_are_recorded() -> None:
    job = Job("w", profile.read("tiered"), {})
    texts = dict.fromkeys(("vmstat_begin", "vmstat_end", "kthreads_begin", "kthreads_end"), "")
    stats = dict.fromkeys(("stat_ready", "stat_begin", "stat_end"), "cpu 0 0 0 0 0 0 0")
    raw = Raw({**texts, **stats}, MODEL, None, "")
    placed = replace(policy.load("all-slow"), fast_kinds=("anon",))
    result = record.from_raw(job, placed, Outcome(1, None), raw)
    assert result["placement"] == {"fast": ["anon"]}
