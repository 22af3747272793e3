# SPDX-License-Identifier: GPL-2.0
"""Cases: which runs belong together, which policies lead, shares of the headroom, times."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.base.stats import Spread
from kloc.results.report.cases import Case, cases, in_order, mean_by_group
from kloc.results.report.kinds import APPLICATION, SLAB
from support.made_up import comparison, run


def only(runs: list[dict[str, Any]]) -> Case:
    (case,) = cases(runs)
    return case


def test_workloads_and_variants_are_separate_cases() -> None:
    machine = {**run("tpp", 1)["machine"], "variant": "fast x 2"}
    runs = [run("tpp", 1), run("tpp", 1, "rocksdb"), run("tpp", 1, machine=machine)]
    runs += [run("stock", 1)]
    assert [case.name for case in cases(runs)] == ["redis", "rocksdb", "redis, fast x 2"]
    assert cases(runs)[0].policies == ["stock", "tpp"]


def test_policies_are_in_the_order_of_a_comparison_with_others_last() -> None:
    assert in_order(["mine", "all-fast", "tpp", "all-slow", "tpp"]) == [
        "all-slow",
        "tpp",
        "all-fast",
        "mine",
    ]


def test_contenders_are_neither_bounds_nor_the_oracle() -> None:
    case = only(comparison())
    assert case.contenders == ["naive", "tpp"]
    assert case.oracle == "oracle"
    assert case.has_bounds
    assert not only([run("all-slow", 1), run("tpp", 1)]).has_bounds


def test_runs_are_ordered_by_seed() -> None:
    case = only([run("tpp", 1, seed=seed) for seed in (3, 1, 2)])
    assert [found["seed"] for found in case.runs_under("tpp")] == [1, 2, 3]


def test_a_program_without_operations_is_timed() -> None:
    assert only([run("tpp", 1, operations=1)]).is_timed
    assert not only([run("tpp", 1)]).is_timed


def test_ratios_and_shares_are_taken_seed_by_seed() -> None:
    runs = [run("all-slow", 100), run("all-fast", 200), run("tpp", 150)]
    runs += [{**found, "seed": 2, "throughput": 2 * found["throughput"]} for found in runs]
    assert only(runs).ratio("tpp", "all-slow") == Spread(1.5, 1.5, 1.5, 2)
    assert only(runs).headroom_share("tpp") == Spread(0.5, 0.5, 0.5, 2)


def test_a_seed_without_its_bound_has_no_ratio() -> None:
    runs = [run("all-slow", 100), run("tpp", 150), run("tpp", 300, seed=2)]
    assert only(runs).ratio("tpp", "all-slow") == Spread(1.5, 1.5, 1.5, 1)
    assert only(runs).ratio("tpp", "all-fast") is None


def test_a_bound_with_a_throughput_of_zero_has_no_ratio() -> None:
    stopped = {**run("all-slow", 1), "throughput": 0}
    assert only([stopped, run("tpp", 1)]).ratio("tpp", "all-slow") is None


def test_the_headroom_ends_at_all_fast_or_at_the_oracle() -> None:
    case = only(comparison())
    share = case.headroom_share("tpp")
    assert share is not None
    assert share.median == pytest.approx(0.6)
    share = case.headroom_share("tpp", "oracle")
    assert share is not None
    assert share.median == pytest.approx(0.75)


def test_an_oracle_that_a_policy_is_ahead_of_is_no_bound() -> None:
    assert only(comparison()).oracle_bound == "oracle"
    case = only([*comparison(), run("kloc", 181)])
    assert (case.oracle, case.oracle_bound) == ("oracle", None)
    assert only([run("tpp", 1)]).oracle_bound is None


def test_bounds_that_hardly_differ_have_no_headroom() -> None:
    case = only([run("all-slow", 100), run("all-fast", 101), run("tpp", 100)])
    assert case.headroom_share("tpp") is None


def test_one_seed_without_a_spread_has_no_leader() -> None:
    case = only([run("tpp", 100), run("naive", 99.5), run("stock", 50)])
    assert case.leaders() == []
    assert case.lead is not None
    assert (case.lead.first, case.lead.seeds_text) == ("tpp", "one seed")
    assert case.lead.undecided == ["tpp", "naive", "stock"]


def by_seed(**speeds: tuple[float, ...]) -> list[dict[str, Any]]:
    """Return the runs of policies that have these throughputs with seeds 1, 2, ..."""
    return [
        run(name, speed, seed=seed)
        for name, speeds_of_policy in speeds.items()
        for seed, speed in enumerate(speeds_of_policy, 1)
    ]


def test_policies_are_level_unless_the_fastest_is_ahead_seed_by_seed() -> None:
    case = only(by_seed(naive=(90, 100, 110), tpp=(95, 120, 130), stock=(50, 60, 70)))
    assert case.leaders() == ["tpp", "naive"]
    assert case.spread("tpp", "throughput") == Spread(120, 95, 130, 3)


def test_a_policy_that_is_faster_with_each_seed_leads_though_ranges_overlap() -> None:
    assert only(by_seed(naive=(90, 100, 110), tpp=(99, 110, 121))).leaders() == ["tpp"]


def test_policies_without_a_seed_in_common_are_not_compared() -> None:
    lead = only([run("tpp", 100, seed=1), run("naive", 50, seed=2)]).lead
    assert lead is not None
    assert (lead.leaders, lead.seeds_text) == ([], "no seed in common")


def test_one_seed_is_judged_by_the_spread_of_the_workload() -> None:
    runs = [run(name, speed, spread=0.1) for name, speed in (("tpp", 100), ("naive", 92))]
    assert only(runs).leaders() == []
    lead = only([*runs, run("stock", 90, spread=0.1)]).lead
    assert lead is not None
    assert (lead.undecided, lead.behind) == (["tpp", "naive"], ["stock"])
    assert only([runs[0], run("stock", 90, spread=0.1)]).leaders() == ["tpp"]


def test_medians_and_seeds_that_contradict_each_other_have_no_leader() -> None:
    runs = by_seed(naive=(100, 100, 100), tpp=(90, 90, 90, 900, 900, 900, 900))
    lead = only(runs).lead
    assert lead is not None
    assert (lead.first, lead.undecided) == ("tpp", ["tpp", "naive"])


def test_one_policy_leads_nobody() -> None:
    assert only([run("tpp", 100)]).leaders() == []


def test_bounds_and_the_oracle_do_not_lead() -> None:
    assert only(comparison(spread=0.1)).leaders() == ["tpp"]
    assert only([run("all-slow", 1), run("all-fast", 2)]).leaders() == []


def test_the_parts_of_the_time_add_up() -> None:
    times = only([run("tpp", 100)]).times("tpp")
    assert times is not None
    assert times.compute == pytest.approx(5.0)
    assert times.stall["slow"] == {APPLICATION: pytest.approx(2.0), SLAB: pytest.approx(1.0)}
    assert times.stalled(APPLICATION) == pytest.approx(3.0)
    assert (times.storage, times.idle) == (pytest.approx(0.6), pytest.approx(0.4))
    parts = [times.compute, times.storage, times.idle]
    parts += [sum(groups.values()) for groups in times.stall.values()]
    assert sum(parts) == pytest.approx(times.seconds)


def test_times_are_the_mean_of_the_workloads_cores() -> None:
    one, four = (only([run("tpp", 100, cores=cores)]).times("tpp") for cores in (1, 4))
    assert one is not None and four is not None
    assert four.stalled(APPLICATION) == pytest.approx(one.stalled(APPLICATION) / 4)
    assert four.idle == pytest.approx(one.idle / 4)
    assert four.seconds == one.seconds


def test_stalls_are_averaged_over_runs_by_group() -> None:
    stalls = [{"anon": {"user": 1e9}, "slab:a": 2e9, "slab:b": 2e9}, {"anon": 3e9}]
    assert mean_by_group(stalls) == {APPLICATION: 2.0, SLAB: 2.0}
