# SPDX-License-Identifier: GPL-2.0
"""Policies that keep a bound on slowdown: what is in slow memory, what it saves, what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import bounds
from support import golden
from support.made_up import document, run

SECOND = 1_000_000_000
MIB = 1 << 20


def bounded(policy: str = "thermostat", percent: float = 3, **other: Any) -> dict[str, Any]:
    """Return a run of a second on two cores, 0.4 s idle, and a spare one; `other` replaces keys.

    In user mode, 1000 misses of slow memory took 30 ms, and would have taken 10 ms in fast memory.
    In kernel mode, 8 ms of 40 ms are on slow memory, and three quarters of all stalls are those of
    the spare core. Visits cost 4 ms to count.
    """
    stalls = {
        "fast": {
            "anon": {"user": 40_000_000, "kernel": 32_000_000},
            "pagetable": {"user": 7_000_000},
        },
        "slow": {"anon": {"user": 30_000_000}, "stack": {"kernel": 8_000_000}},
    }
    misses = {
        "fast": {"anon": {"user": 4000, "kernel": 50}, "pagetable": {"user": 1}},
        "slow": {"anon": {"user": 1000}, "stack": {"kernel": 10}},
    }
    core = {"user": 300, "kernel": 100, "stall_ns": 0, "idle_ns": 0.2 * SECOND}
    return {
        **run(policy, 1000.0, "btree", cores=2, stall_ns=stalls, misses=misses),
        "by_core": [core, core, {**core, "stall_ns": 30_000_000}],
        "idle_ns": 0.4 * SECOND,
        "pages": {
            "fast": {"anon": 500, "file": 100, "free": 9000, "kernel": 700},
            "slow": {"anon": 190, "shmem": 10, "free": 9000, "kernel": 300},
        },
        "migrated_pages": {"promoted": {"anon": 3}, "demoted": {"anon": 500, "file": 0}},
        "bound": {
            "percent": percent,
            "fault_ns": 500,
            "counted": 8000,
            "came_back_bytes": 4 * MIB,
            "series": {
                "t_ns": [-SECOND, 0, SECOND // 2, SECOND, 2 * SECOND],
                "budget_ns": [9_000_000, 50_000_000, 40_000_000, 45_000_000, 0],
                "cost_ns": [0, 1_000_000, 20_000_000, 30_000_000, 0],
            },
        },
        **other,
    }


def kept(*runs: dict[str, Any]) -> bounds.Kept:
    (one,) = bounds.found(runs)
    return one


def test_memory_of_the_workload_counts_and_no_other() -> None:
    assert kept(bounded()).slow == pytest.approx(25)
    assert kept(bounded(pages={})).slow is None
    assert kept(bounded(pages={})).savings is None


def test_savings_are_those_of_sizes_of_fast_memory() -> None:
    savings = kept(bounded()).savings
    assert savings == pytest.approx({"1/3": 1 / 6, "1/4": 3 / 16, "1/5": 1 / 5})


def test_cost_is_what_fast_memory_would_not_have_cost_and_counting() -> None:
    one = kept(bounded())
    # 20 ms in user mode, and a quarter of 8 ms in kernel mode, of 1.6 s.
    assert one.stalls == pytest.approx(100 * (20 + 2) / 1600)
    assert one.counting == pytest.approx(100 * 4 / 1600)
    assert one.cost == pytest.approx(100 * 26 / 1600)


def test_stalls_of_the_spare_core_alone_cost_the_workload_nothing() -> None:
    cores = bounded()["by_core"]
    spare = [*cores[:2], {**cores[2], "stall_ns": 40_000_000}]
    assert kept(bounded(by_core=spare)).stalls == pytest.approx(100 * 20 / 1600)


@pytest.mark.parametrize("missing", ["stall_ns", "misses", "by_core"])
def test_without_stalls_the_cost_is_not_known(missing: str) -> None:
    one = bounded()
    del one[missing]
    assert kept(one).stalls is None and kept(one).cost is None and kept(one).held is None
    # The loss of throughput is.
    fast = run("all-fast", 1010.0, "btree")
    assert kept(one, fast).held is True


def test_slowdown_is_relative_to_all_fast_with_the_same_seed() -> None:
    runs = [
        bounded(seed=1),
        bounded(seed=2),
        run("all-fast", 1250.0, "btree", seed=1),
        run("all-fast", 500.0, "btree", seed=3),
        run("all-fast", 2000.0, "redis", seed=2),
    ]
    assert kept(*runs).slowdown == pytest.approx(20)
    assert kept(bounded()).slowdown is None


@pytest.mark.parametrize(
    ("percent", "fastest", "held"),
    [(3, None, True), (3, 1020.0, True), (3, 1100.0, False), (1, None, False), (10, 1100.0, True)],
)
def test_a_bound_is_held_if_cost_and_loss_are_within_it(
    percent: float, fastest: float | None, held: bool
) -> None:
    fast = [] if fastest is None else [run("all-fast", fastest, "btree")]
    assert kept(bounded(percent=percent), *fast).held is held


def test_budgets_are_those_of_the_region() -> None:
    """Samples of the warm-up, and after the region, do not count."""
    budget, cost, visits, out, back = bounds.budget_cells([bounded()])
    assert (budget, cost, visits) == ("45.0", "20.0", "8,000")
    # 500 pages of 4096 bytes, and two regions of 2 MiB.
    assert (out, back) == ("2.0", "4.2")


def test_figures_are_medians_over_seeds() -> None:
    pages = bounded()["pages"]
    none = {**pages, "slow": {}}
    runs = [bounded(seed=1), bounded(seed=2, pages=none), bounded(seed=3, pages=none)]
    assert kept(*runs).slow == 0


def test_policies_without_a_bound_are_left_out() -> None:
    runs = [run("tpp", 1), run("all-fast", 2)]
    assert bounds.found(runs) == []
    assert bounds.table(runs) is None and bounds.details(runs) is None


def test_a_document_has_the_figures_and_loses_old_ones() -> None:
    content = bounds.included(document(bounded(), run("all-fast", 1010.0, "btree")))
    (one,) = content["bounds"]
    assert (one["policy"], one["bound"], one["held"]) == ("thermostat", 3, True)
    assert one["cost"] == pytest.approx(one["stalls"] + one["counting"])
    assert "bounds" not in bounds.included({**content, "runs": [run("tpp", 1)]})


def test_variants_have_rows_of_their_own() -> None:
    machine = {**run("tpp", 1)["machine"], "variant": "fast x 6"}
    drawn = bounds.table([bounded(), bounded(machine=machine)])
    assert drawn is not None
    assert list(drawn.columns[0].cells) == ["unchanged", "fast x 6"]


def test_tables_look_as_in_the_golden_file() -> None:
    runs = [
        *(bounded(f"thermostat{name}", bound) for name, bound in (("", 3), ("-6", 6), ("-10", 10))),
        run("all-fast", 1050.0, "btree"),
    ]
    tables = [bounds.table(runs), bounds.details(runs)]
    golden.check("tables/bounds", golden.printed(*filter(None, tables)))
