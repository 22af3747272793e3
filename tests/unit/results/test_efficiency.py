# SPDX-License-Identifier: GPL-2.0
"""Performance and memory efficiency relative to a baseline: Figures 7 and 8 of the DAOS paper."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import efficiency
from support import golden
from support.golden import printed
from support.made_up import document, run


def sampled(policy: str, speed: float, mib: float, **other: Any) -> dict[str, Any]:
    """Return a run that used `mib` MiB of memory."""
    memory = {"mean": mib * (1 << 20), "resident": mib * (1 << 20), "swapped": 0.0, "samples": 9}
    return run(policy, speed, **{"memory": memory, **other})


RUNS = [
    sampled("baseline", 1000, 400),
    sampled("prcl", 900, 100),
    sampled("thp", 1200, 500),
    sampled("baseline", 50, 80, workload="filebench"),
    sampled("prcl", 55, 40, workload="filebench"),
    run("tpp", 1100),
]


def test_both_figures_are_higher_for_what_is_better() -> None:
    (prcl, thp) = efficiency.comparisons(RUNS[:3])
    assert prcl.figures == pytest.approx((0.9, 4.0))
    assert thp.figures == pytest.approx((1.2, 0.8))


def test_seeds_are_compared_with_the_same_seed() -> None:
    runs = [
        sampled("baseline", 100, 10, seed=1),
        sampled("baseline", 200, 30, seed=2),
        sampled("prcl", 100, 5, seed=1),
        sampled("prcl", 100, 10, seed=2),
        sampled("prcl", 100, 10, seed=3),
    ]
    (one,) = efficiency.comparisons(runs)
    assert one.performance == {1: 1.0, 2: 0.5}
    assert one.memory == {1: 2.0, 2: 3.0}


@pytest.mark.parametrize(
    ("runs", "wanted", "baseline"),
    [
        (RUNS, None, "baseline"),
        (RUNS, "prcl", "prcl"),
        # Its memory was not sampled.
        (RUNS, "tpp", "baseline"),
        (RUNS[1:3], None, None),
    ],
)
def test_the_baseline_is_one_whose_memory_was_sampled(
    runs: list[dict[str, Any]], wanted: str | None, baseline: str | None
) -> None:
    assert efficiency.baseline(runs, wanted) == baseline
    assert bool(efficiency.comparisons(runs, wanted)) == (baseline is not None)


def test_a_document_has_the_comparisons_and_loses_old_ones() -> None:
    content = efficiency.included(document(*RUNS))
    assert content["efficiency"]["baseline"] == "baseline"
    (first, *_) = content["efficiency"]["comparisons"]
    assert first["policy"] == "prcl" and first["memory_efficiency"] == pytest.approx(4.0)
    fewer = {**content, "runs": [run("tpp", 1100), run("kloc", 1000)]}
    assert "efficiency" not in efficiency.included(fewer)


def test_table_has_a_mean_of_policies_that_have_all_workloads() -> None:
    golden.check("tables/efficiency", printed(*efficiency.tables(RUNS), width=100))
    assert efficiency.tables([run("tpp", 1), run("kloc", 1)]) == []
