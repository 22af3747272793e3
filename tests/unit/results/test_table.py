# SPDX-License-Identifier: GPL-2.0
"""Tables of runs: comparisons with the bounds, variants, notes, and single runs."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import pytest
from rich.table import Table

from kloc.measure import workload
from kloc.results import table
from support import golden
from support.golden import printed
from support.made_up import oracle, run

THROUGHPUT = {
    "rocksdb": {
        "all-slow": 24_175,
        "naive": 28_018,
        "stock": 28_467,
        "autonuma": 27_527,
        "tpp": 40_480,
        "kloc-nomigrate": 32_850,
        "kloc": 47_267,
        "all-fast": 53_349,
    },
    "redis": {
        "all-slow": 53_709,
        "naive": 88_229,
        "stock": 81_993,
        "autonuma": 81_893,
        "tpp": 95_951,
        "kloc-nomigrate": 74_344,
        "kloc": 100_986,
        "all-fast": 148_681,
    },
}
"""Throughputs of an earlier README.md, in operations a second."""

ORACLE = {"rocksdb": 50_814, "redis": 134_763}

NOTE = "no page was demoted"


def compared(seeds: int) -> list[dict[str, Any]]:
    """Return the runs of a comparison in the order of its rows; seeds differ by some per cent."""
    runs = []
    for name, speeds in THROUGHPUT.items():
        for seed in range(1, seeds + 1):
            for number, (policy, speed) in enumerate(speeds.items()):
                speed *= 1 + 0.01 * number * (seed - 1)
                notes = [NOTE] if (name, policy) == ("redis", "tpp") else []
                if policy == "all-fast":
                    runs.append(oracle(ORACLE[name], name, seed=seed))
                runs.append(run(policy, speed, name, seed=seed, notes=notes))
    return runs


def on_variant(
    name: str, runs: list[dict[str, Any]], fast_bytes: int = 192 << 20
) -> list[dict[str, Any]]:
    changed = {"variant": name, "fast_bytes": fast_bytes}
    return [{**run, "machine": {**run["machine"], **changed}} for run in runs]


def shown(runs: list[dict[str, Any]], width: int = 80, first: str = "policy") -> str:
    """Return what `kloc compare` prints of these runs."""
    lines = "\n".join(table.remarks(runs))
    return printed(*table.comparisons(runs, width, first), width=width) + lines + "\n"


def cells(text: str) -> list[list[str]]:
    """Return the cells of each line that is not empty."""
    return [re.split(r"  +", line.strip()) for line in text.splitlines() if line.strip()]


def row(text: str, first: str) -> list[str]:
    (found,) = [row for row in cells(text) if row[0] == first]
    return found


def heading(*runs: dict[str, Any]) -> str:
    return str(table.comparisons(runs, 100)[0])


@pytest.mark.parametrize(
    ("name", "seeds", "width"),
    [("one_seed", 1, 80), ("three_seeds", 3, 80), ("three_seeds_wide", 3, 160)],
)
def test_comparison_is_printed_as_in_the_golden_file(name: str, seeds: int, width: int) -> None:
    golden.check(f"tables/compare_{name}", shown(compared(seeds), width))


def test_variants_are_printed_as_in_the_golden_file() -> None:
    runs = []
    for factor, size, variant in ((0.8, 96, "fast x 1/2"), (1.0, 192, ""), (1.3, 384, "fast x 2")):
        for policy in ("all-slow", "tpp", "kloc", "all-fast"):
            speed = THROUGHPUT["redis"][policy]
            is_bound = policy.startswith("all-")
            one = run(policy, speed * (1.0 if is_bound else factor))
            runs += on_variant(variant, [one], size << 20)
    golden.check("tables/compare_variants", shown(runs))


def test_placements_by_kind_are_printed_as_in_the_golden_file() -> None:
    speeds = {"all-slow": 100, "kernel": 120, "application": 160, "application + slab": 180}
    runs = [run(name, 1000 * speed) for name, speed in speeds.items()]
    runs += [oracle(185_000), run("all-fast", 200_000)]
    golden.check("tables/what_if", shown(runs, first="pages that are fast"))


def test_summary_of_a_run_is_printed_as_in_the_golden_file() -> None:
    golden.check("tables/summary", printed(*table.summaries([run("tpp", 95_951)], 80)))


def test_table_has_medians_and_ranges_over_seeds() -> None:
    runs = [run("all-slow", 100, seed=seed) for seed in (1, 2, 3)]
    runs += [run("all-fast", 200, seed=seed) for seed in (1, 2, 3)]
    runs += [run("tpp", speed, seed=seed) for seed, speed in ((1, 120), (2, 150), (3, 130))]
    text = printed(table.comparison(runs))
    assert row(text, "tpp") == ["tpp", "130", "1.30 (1.20 to 1.50)", "65 % (60 % to 75 %)"]


def test_column_of_a_bound_that_was_not_measured_is_empty() -> None:
    assert row(printed(table.comparison([run("tpp", 120)])), "tpp") == ["tpp", "120"]


def test_each_variant_is_compared_with_its_own_bounds() -> None:
    runs = [run("all-slow", 100), run("tpp", 150)]
    runs += on_variant("fast x 2", [run("all-slow", 50), run("tpp", 150)])
    text = shown(runs)
    assert [line for line in cells(text) if line[0] == "tpp"][:2] == [
        ["tpp", "150", "1.50"],
        ["tpp", "150", "3.00"],
    ]
    assert row(text, "unchanged") == ["unchanged", "1.50"]
    assert row(text, "fast x 2") == ["fast x 2", "3.00"]


def test_one_variant_has_no_table_of_variants() -> None:
    assert len(table.comparisons([run("all-slow", 100), run("tpp", 150)], 100)) == 2


@pytest.mark.parametrize(
    ("seeds", "width", "expected"),
    [
        (1, 80, [["redis", "rocksdb"], ["liblinear"]]),
        (1, 200, [["redis", "rocksdb", "liblinear"]]),
        (3, 80, [["redis"], ["rocksdb"], ["liblinear"]]),
        (1, 20, [["redis"], ["rocksdb"], ["liblinear"]]),
    ],
)
def test_workloads_that_do_not_fit_into_a_table_get_another(
    seeds: int, width: int, expected: list[list[str]]
) -> None:
    names = [name for workloads in expected for name in workloads]
    runs = [
        run(policy, throughput, name, seed=seed)
        for name in names
        for policy, throughput in (("all-slow", 50_000), ("tpp", 60_000), ("all-fast", 80_000))
        for seed in range(1, seeds + 1)
    ]
    headings = [
        [str(column.header) for column in each.columns]
        for each in table.comparisons(runs, width)
        if isinstance(each, Table)
    ]
    found = [[name for name in names if f"{name}\nops/s" in columns] for columns in headings]
    assert found == expected


def test_heading_names_the_machine_and_the_number_of_seeds() -> None:
    assert heading(run("tpp", 1)) == "machine tiered: 192 MiB fast, 1280 MiB slow, 1 core, 1 seed"
    several = [run("tpp", 1, seed=seed, cores=2) for seed in (1, 2)]
    assert heading(*several).endswith(", 2 cores, 2 seeds")


def test_heading_names_cold_runs() -> None:
    warm, cold = run("stock", 1), run("tpp", 1, cold=True)
    assert heading(cold).endswith(", cold")
    assert heading(warm, cold).endswith(", some cold")
    assert "cold" not in heading(warm)


def test_a_note_on_all_runs_does_not_name_them() -> None:
    runs = [run(name, 1, notes=["odd"]) for name in ("tpp", "stock")]
    assert table.remarks(runs) == ["all runs: odd"]
    assert table.remarks(runs[:1]) == ["redis/tpp: odd"]


def test_heading_names_sizes_other_than_the_full_one() -> None:
    full, quick = run("stock", 1), run("tpp", 1, size=asdict(workload.QUICK))
    assert heading(quick).endswith(", --quick")
    assert heading(full, quick).endswith(", full size and --quick")


def test_a_note_is_printed_once_with_the_runs_that_have_it() -> None:
    runs = [run("tpp", 1, notes=["odd"]), run("stock", 1, notes=["odd"])]
    runs += on_variant("fast x 2", [run("tpp", 1, notes=["odd"]), run("stock", 1)])
    assert table.remarks(runs) == ["redis/tpp, redis/stock, redis/tpp (fast x 2): odd"]


@pytest.mark.parametrize(
    ("throughput", "expected"), [(1234.6, "1,235"), (0.0998, "0.0998"), (5.0, "5")]
)
def test_low_throughput_keeps_three_digits(throughput: float, expected: str) -> None:
    text = printed(table.comparison([run("tpp", throughput)]))
    assert row(text, "tpp") == ["tpp", expected]
    assert f" {expected} " in printed(*table.summaries([run("tpp", throughput)], 80))


def test_summary_has_no_latency_if_the_workload_measures_none() -> None:
    assert "latency" in printed(*table.summaries([run("tpp", 1)], 80))
    assert "latency" not in printed(*table.summaries([run("tpp", 1, latency_ns=None)], 80))


@pytest.mark.parametrize(
    ("on_workload_cores", "cell"), [(False, "0.0200 "), (True, "0.0200, on the workload's cores ")]
)
def test_the_time_of_a_daemon_is_shown_and_whose_cores_it_took(
    on_workload_cores: bool, cell: str
) -> None:
    one = {"start": "watch", "time_ns": 20_000_000, "on_workload_cores": on_workload_cores}
    (line,) = [
        line
        for line in printed(*table.summaries([run("damo-tier", 1, daemon=one)], 100)).splitlines()
        if "daemon, s" in line
    ]
    assert f" {cell}" in line
    assert "daemon, s" not in printed(*table.summaries([run("tpp", 1)], 80))


def test_several_seeds_have_a_column_each_in_tables_that_fit() -> None:
    runs = [run("tpp", 1000 * seed, seed=seed) for seed in (1, 2, 3)]
    lines = printed(*table.summaries(runs, 60)).splitlines()
    assert "3 seeds" in lines[0]
    heads = [line.split() for line in lines if "seed " in line]
    assert [[word for word in head if word.isdigit()] for head in heads] == [["1", "2"], ["3"]]
    rates = [line for line in lines if "operations per second" in line]
    assert [re.findall(r"\d,\d+", line) for line in rates] == [["1,000", "2,000"], ["3,000"]]
    assert max(map(len, lines)) <= 60
