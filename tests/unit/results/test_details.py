# SPDX-License-Identifier: GPL-2.0
"""The table of `kloc compare --details`."""

from __future__ import annotations

from typing import Any

from kloc.results import details
from support import golden
from support.made_up import run, warm_up

ALIKE = [(100.0, 0)] * 8


def rows(*runs: dict[str, Any]) -> list[list[str]]:
    """Return the cells of the table's rows."""
    table = details.details(runs)
    return [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]


def heads(*runs: dict[str, Any]) -> list[str]:
    return [str(column.header).replace("\n", " ") for column in details.details(runs).columns]


def test_details_look_as_in_the_golden_file() -> None:
    figures = {"lost operations": 1234.4}
    runs = [
        run("stock", 1, "shift", warm_up=warm_up((100, 9), (200, 9)), figures=figures),
        run("tpp", 1, "shift", warm_up=warm_up((250, 9000), *ALIKE), figures={}),
        run("tpp", 1, "mail", warm_up=None),
    ]
    golden.check("tables/details", golden.printed(details.details(runs), width=100))


def test_details_are_medians_over_seeds() -> None:
    moved = [{"promoted": {"anon": n, "file": 1}, "demoted": {"anon": 2 * n}} for n in (1, 5, 7)]
    runs = [
        run("tpp", 1, seed=n, migrated_pages=pages, hint_faults=n, warm_up=warm_up(*ALIKE))
        for n, pages in enumerate(moved)
    ]
    assert rows(*runs) == [["redis", "tpp", "800", "0", "6", "10", "1"]]


def test_variants_have_rows_of_their_own() -> None:
    machine = {"name": "tiered", "variant": "fast x 2"}
    one, other = run("tpp", 1), run("tpp", 1, machine={**run("tpp", 1)["machine"], **machine})
    assert heads(one)[0] == "workload"
    assert heads(one, other)[0] == "variant"
    assert [row[0] for row in rows(one, other)] == ["unchanged", "fast x 2"]


def test_waits_for_promotions_have_columns_if_a_run_has_any() -> None:
    """Of 100 promotions, 60 waited for 896 ns and longer, one for 2 us and longer."""
    histogram = {"2048": 1, "896": 60, "512": 39}
    runs = [run("tpp", 1), run("autotiering-opm", 1, promotion_ns=histogram)]
    assert heads(*runs)[-2:] == ["promotion p50, ns", "promotion p99, ns"]
    assert [row[-2:] for row in rows(*runs)] == [["", ""], ["896", "896"]]
    assert details.wait(histogram, 0.39) == 512
    assert details.wait(histogram, 0.995) == 2048
    assert "promotion p50, ns" not in heads(run("tpp", 1))


def test_figures_that_only_some_workloads_have_are_empty_for_others() -> None:
    runs = [run("tpp", 1), run("tpp", 1, "shift", figures={"lost operations": 9.0})]
    assert heads(*runs)[-1] == "lost operations"
    assert [row[-1] for row in rows(*runs)] == ["", "9"]
