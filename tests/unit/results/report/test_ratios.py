# SPDX-License-Identifier: GPL-2.0
"""The section of a report on ratios to a baseline."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import ahead
from kloc.results.report import ratios
from support.made_up import document, run

pytestmark = pytest.mark.usefixtures("undrawn")

SPEEDS = {
    "redis": {"stock": (70, 71, 72), "tpp": (100, 100, 100), "kloc": (109, 110, 111)},
    "mail": {"stock": (99,), "tpp": (100,), "kloc": (90,)},
}


def content() -> dict[str, Any]:
    """Return a document with the runs of SPEEDS."""
    return document(
        *(
            run(policy, speed, workload, seed=seed)
            for workload, policies in SPEEDS.items()
            for policy, speeds in policies.items()
            for seed, speed in enumerate(speeds, 1)
        )
    )


def test_each_policy_has_a_figure_and_a_table_of_all_workloads() -> None:
    found = ratios.section(content())
    assert found is not None
    assert [block.title for block in found.blocks] == ["stock against tpp", "kloc against tpp"]
    figures = [figure.title for block in found.blocks for figure in block.figures]
    assert figures == [f"{name} relative to tpp on redis and mail" for name in ("stock", "kloc")]
    (table,) = found.blocks[1].tables
    assert [list(row) for row in table.rows] == [
        ["redis", "1.10", "1.08 to 1.13", "3", "ahead"],
        ["mail", "0.90", "", "1", "one seed: cannot tell"],
    ]


def test_legend_has_the_verdicts_that_occur() -> None:
    found = ratios.section(content())
    assert found is not None
    assert [group.label for group in found.legend] == ["ahead", "behind", "cannot tell"]


def test_baseline_is_that_of_the_document() -> None:
    found = ratios.section(ahead.included(content(), "stock"))
    assert found is not None
    assert [block.title for block in found.blocks] == ["tpp against stock", "kloc against stock"]


def test_one_policy_has_no_section() -> None:
    assert ratios.section(document(run("all-slow", 50), run("tpp", 100))) is None


def test_axis_has_one_and_all_ratios_and_cuts_wide_intervals() -> None:
    def limits(*ratios_of_seeds: float) -> tuple[float, float]:
        by_seed = dict(enumerate(ratios_of_seeds, 1))
        return ratios._limits([ahead.Comparison("redis", "", "kloc", "tpp", by_seed)])

    low, high = limits(0.8)
    assert low < 0.8 and 1 < high < 1.1
    low, high = limits(1.1, 1.5)
    assert 0.7 < low < 1 and 1.9 < high < 2.1
