# SPDX-License-Identifier: GPL-2.0
"""Ratios to a baseline, seed by seed: their means, intervals and verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import ahead
from kloc.results.ahead import Comparison, Verdict
from support import golden
from support.made_up import document, oracle, run


def compared(*ratios: float, spread: float | None = None) -> Comparison:
    """Return a comparison of kloc with tpp that has these ratios with seeds 1, 2, ..."""
    return Comparison("redis", "", "kloc", "tpp", dict(enumerate(ratios, 1)), spread)


def several(**speeds: list[float]) -> dict[str, Any]:
    """Return a document with the runs of policies that have these throughputs by seed."""
    return document(
        *(
            run(name.replace("_", "-"), speed, seed=seed)
            for name, by_seed in speeds.items()
            for seed, speed in enumerate(by_seed, 1)
        )
    )


def test_ratio_is_the_geometric_mean_over_seeds() -> None:
    assert compared(0.5, 2.0).ratio == pytest.approx(1.0)
    assert compared(0.9).ratio == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("ratios", "quantile"), [((0.9, 1.0), 12.706), ((0.9, 1.0, 1.1), 4.3027), ((1.0,) * 4, 3.1824)]
)
def test_interval_is_that_of_students_t_of_the_logarithms(
    ratios: tuple[float, ...], quantile: float
) -> None:
    import numpy as np

    logs = np.log(ratios)
    half = quantile * logs.std(ddof=1) / len(ratios) ** 0.5
    expected = np.exp([logs.mean() - half, logs.mean() + half])
    assert compared(*ratios).interval == pytest.approx(tuple(expected), rel=1e-4)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ((1.10, 1.11, 1.12), Verdict.AHEAD),
        ((0.90, 0.91, 0.92), Verdict.BEHIND),
        ((0.97, 1.00, 1.04), Verdict.TIE),
        ((1.00, 1.00, 1.00), Verdict.TIE),
        # Every seed is ahead, and yet the interval includes 1.
        ((1.01, 1.02, 1.30), Verdict.TIE),
        ((1.10, 1.10), Verdict.AHEAD),
        ((1.10, 1.50), Verdict.UNKNOWN),
        ((0.80,), Verdict.UNKNOWN),
    ],
)
def test_verdict_says_whether_the_interval_includes_one(
    ratios: tuple[float, ...], verdict: Verdict
) -> None:
    assert compared(*ratios).verdict is verdict


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.09, "ahead (one seed, beyond the spread of 8 %)"),
        (0.92, "behind (one seed, beyond the spread of 8 %)"),
        (0.93, "one seed: cannot tell"),
        (1.07, "one seed: cannot tell"),
    ],
)
def test_one_seed_is_judged_by_the_spread_that_the_workload_states(ratio: float, text: str) -> None:
    assert compared(ratio, spread=0.08).verdict_text == text


def test_one_seed_cannot_tell_if_the_spread_is_not_known() -> None:
    one = compared(3.0)
    assert (one.ratio_text, one.verdict_text) == ("3.00", "one seed: cannot tell")


def test_two_seeds_that_differ_cannot_tell() -> None:
    assert compared(1.1, 1.5).verdict_text == "2 seeds: cannot tell"


def test_only_seeds_that_both_have_are_compared() -> None:
    content = several(tpp=[100, 100], kloc=[110, 120, 500])
    (one,) = ahead.comparisons(content["runs"], "tpp")
    assert one.ratios == {1: 1.1, 2: 1.2}
    other = [run("tpp", 100, seed=1), run("kloc", 100, seed=2)]
    assert ahead.comparisons(other, "tpp") == []


def test_bounds_oracle_and_placements_are_not_compared() -> None:
    placed = run("kernel", 100, placement={"fast": []})
    others = [run("all-slow", 50), run("all-fast", 150), oracle(140), placed]
    runs = [run("tpp", 100), run("kloc", 110), run("stock", 90), *others]
    assert [one.policy for one in ahead.comparisons(runs, "tpp")] == ["kloc", "stock"]


def test_a_run_without_throughput_is_not_compared() -> None:
    idle = {**run("tpp", 1), "throughput": 0.0}
    assert ahead.comparisons([idle, run("kloc", 100)], "tpp") == []
    assert ahead.comparisons([idle, run("kloc", 100)], "kloc") == []


def test_variants_are_compared_apart() -> None:
    machine = {**run("tpp", 1)["machine"], "variant": "fast x 2"}
    runs = [run("tpp", 100), run("kloc", 110)]
    runs += [run("tpp", 100, machine=machine), run("kloc", 90, machine=machine)]
    found = ahead.comparisons(runs, "tpp")
    assert [(one.name, round(one.ratio, 2)) for one in found] == [
        ("redis", 1.1),
        ("redis, fast x 2", 0.9),
    ]


def test_the_runs_carry_the_spread() -> None:
    runs = [run("tpp", 100, spread=0.1), run("kloc", 120, spread=0.05)]
    (one,) = ahead.comparisons(runs, "tpp")
    assert one.spread == 0.1
    assert ahead.comparisons([run("tpp", 100), run("kloc", 120)], "tpp")[0].spread is None


def test_baseline_is_the_one_that_the_user_or_the_file_names() -> None:
    content = several(tpp=[100], stock=[90], kloc=[110])
    assert ahead.baseline(content) == "tpp"
    assert ahead.baseline(content, "kloc") == "kloc"
    saved = ahead.included(content, "stock")
    assert ahead.baseline(saved) == "stock"
    assert ahead.lines(saved) == ahead.lines(content, "stock")


def test_another_baseline_is_said_to_be_used_if_tpp_was_not_measured() -> None:
    first, *_ = ahead.lines(several(stock=[100], kloc=[110]))
    assert first == "kloc against stock (tpp was not measured), seed by seed:"


def test_policies_without_a_baseline_have_a_note() -> None:
    (line,) = ahead.lines(several(autonuma=[100], kloc_cap=[110]))
    assert line == "no ratios: no baseline (tpp, stock, naive, kloc, baseline) was measured"


def test_one_policy_is_compared_with_nothing() -> None:
    content = several(all_slow=[50], tpp=[100], all_fast=[150])
    assert ahead.lines(content) == []
    assert "against" not in ahead.included(content)


def test_a_document_has_its_comparisons_anew() -> None:
    content = several(tpp=[100, 100, 100], kloc=[110, 110, 110])
    stale = {**content, "against": {"baseline": "tpp", "comparisons": [{"stale": True}]}}
    found = ahead.included(stale)["against"]
    (one,) = found["comparisons"]
    assert (found["baseline"], found["confidence"]) == ("tpp", 0.95)
    assert one == {
        "workload": "redis",
        "variant": "",
        "policy": "kloc",
        "ratio": pytest.approx(1.1),
        "low": pytest.approx(1.1),
        "high": pytest.approx(1.1),
        "verdict": "ahead",
        "by_seed": {"1": 1.1, "2": 1.1, "3": 1.1},
    }
    assert ahead.included(several(tpp=[1], kloc=[2]))["against"]["comparisons"][0]["low"] is None


def test_lines_look_as_in_the_golden_file() -> None:
    ratios = {
        "rocksdb": {"stock": (0.52, 0.55, 0.56), "kloc": (0.99, 1.01, 1.03)},
        "redis": {"stock": (0.7, 0.71, 0.75), "kloc": (0.82, 0.85, 0.88)},
        "filebench": {"stock": (0.8,), "kloc": (1.3,)},
        "mail": {"stock": (0.99, 1.05), "kloc": (1.2, 1.21)},
    }
    runs = [
        run(policy, 1000 * ratio, workload, seed=seed, spread=0.2)
        for workload, policies in ratios.items()
        for policy, values in {"tpp": (1, 1, 1), **policies}.items()
        for seed, ratio in enumerate(values, 1)
    ]
    golden.check("tables/ahead", "\n".join(ahead.lines(document(*runs))))
