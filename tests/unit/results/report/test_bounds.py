# SPDX-License-Identifier: GPL-2.0
"""The section of a report on policies that keep a bound on slowdown."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results.report import bounds, page
from kloc.results.report.cases import cases
from support.made_up import document, run

pytestmark = pytest.mark.usefixtures("undrawn")

MS = 1_000_000


def bounded(policy: str = "thermostat", **other: Any) -> dict[str, Any]:
    """Return a run of a warm-up of 20 ms and a region of 10 ms; `other` replaces keys."""
    warm = {
        "seconds": 0.02,
        "slices": [],
        "settled": True,
        "series": {
            "t_ns": [10 * MS, 20 * MS],
            "pages_fast": {"anon": [100, 90], "kernel": [7, 7]},
            "pages_slow": {"anon": [0, 10], "kernel": [3, 3]},
        },
    }
    series = {
        "t_ns": [5 * MS, 10 * MS],
        "pages_fast": {"anon": [80, 60]},
        "pages_slow": {"anon": [20, 40]},
    }
    bound = {
        "percent": 3,
        "fault_ns": 500,
        "counted": 8000,
        "came_back_bytes": 0,
        "series": {
            "t_ns": [-20 * MS, 0, 5 * MS, 12 * MS],
            "budget_ns": [60 * MS, 50 * MS, 40 * MS, 0],
            "cost_ns": [0, 10 * MS, 20 * MS, 0],
            "cold_bytes": [0, 2 << 20, 4 << 20, 0],
            "came_back_bytes": [0, 0, 0, 0],
        },
    }
    ran = {"seconds": 0.01, "warm_up": warm, "series": series, "bound": bound}
    return run(policy, 1000.0, "btree", **{**ran, **other})


RUNS = [bounded(), run("all-fast", 1010.0, "btree")]


def test_figure_has_cold_memory_cost_and_budget_from_the_warm_up_on() -> None:
    (case,) = cases(RUNS)
    found = bounds.figure(case, RUNS[0])
    assert found is not None and found.table is not None
    # The sample after the region is left out.
    assert [list(row) for row in found.table.rows] == [
        ["-20.0", "0.0", "0.00", "60.00", "0", "0"],
        ["0.0", "10.0", "10.00", "50.00", "2", "0"],
        ["5.0", "20.0", "20.00", "40.00", "4", "0"],
    ]
    assert found.caption == "thermostat, seed 1"


def test_runs_without_samples_have_no_figure() -> None:
    (case,) = cases(RUNS)
    assert bounds.figure(case, RUNS[1]) is None
    assert bounds.figure(case, bounded(series=None, warm_up=None)) is None


def test_tables_are_those_of_the_terminal() -> None:
    (case,) = cases(RUNS)
    found = bounds.section([case], {case.name: RUNS[:1]})
    assert found is not None
    (block,) = found.blocks
    kept, budgets = block.tables
    assert list(kept.head) == [
        "policy",
        "in slow memory",
        "saved at 1/3, 1/4, 1/5",
        "cost",
        "slowdown",
        "bound",
        "held",
    ]
    assert [row[-2:] for row in kept.rows] == [["3 %", "yes"]]
    assert budgets.head[1:3] == ["stalls %", "counting %"]
    assert [row[0] for row in budgets.rows] == ["thermostat"]


def test_the_page_has_the_section_if_a_policy_has_a_bound() -> None:
    with_bound, without = (
        [section.id for section in page.page(document(*runs)).sections]
        for runs in (RUNS, [run("tpp", 1.0)])
    )
    assert "bound" in with_bound and "bound" not in without
