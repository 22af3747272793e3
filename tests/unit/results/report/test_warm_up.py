# SPDX-License-Identifier: GPL-2.0
"""The section on warm-ups of a report on runs."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results.report import warm_up
from kloc.results.report.cases import cases
from kloc.results.report.structure import Section
from support import made_up
from support.made_up import run

pytestmark = pytest.mark.usefixtures("undrawn")

# 10 ms with 20 M instructions per 5 ms, then 30 M.
SERIES = {
    "t_ns": [5_000_000, 10_000_000],
    "instructions": [20_000_000, 50_000_000],
    "promoted": [0, 300],
    "demoted": [600, 600],
}


def section(*runs: dict[str, Any]) -> Section | None:
    found = cases(runs)
    return warm_up.section(found, {case.name: case.runs for case in found})


def test_time_goes_from_the_load_on_with_the_regions_beginning_at_zero() -> None:
    edges, rates = warm_up.over_time(run("tpp", 100))
    assert (edges[0], edges[-1]) == (pytest.approx(-10), pytest.approx(15))
    assert 0.0 in edges
    assert edges == sorted(edges)
    assert all(len(values) == len(edges) - 1 for values in rates.values())


def test_rates_are_those_of_the_series() -> None:
    edges, rates = warm_up.over_time(run("tpp", 100))

    def at(key: str, time: float) -> float:
        return rates[key][next(i for i, edge in enumerate(edges) if edge > time) - 1]

    for time, expected in ((-9, 4), (-1, 6), (1, 6), (14, 6)):
        assert at("instructions", time) == pytest.approx(expected)
    assert at("demoted", -9) == pytest.approx(120)
    assert at("promoted", -9) == 0
    assert at("promoted", -1) == pytest.approx(60)


def test_a_long_region_leaves_an_interval_for_the_warm_up() -> None:
    long = {key: [1000 * value for value in values] for key, values in SERIES.items()}
    edges, _ = warm_up.over_time(run("tpp", 100, series=long))
    assert edges[:2] == [pytest.approx(-10), 0.0]


def test_slices_end_at_their_times() -> None:
    warm = made_up.warm_up((6, 1), (4, 1), series=SERIES)
    assert warm_up.slice_ends(run("tpp", 100, warm_up=warm)) == pytest.approx([-4, 0])


def test_a_policy_has_a_row_with_its_time_to_settle() -> None:
    warm = made_up.warm_up((250, 9000), *[(100, 3)] * 8, series=SERIES)
    found = section(run("tpp", 100, warm_up=warm, figures={"lost operations": 5.0}))
    assert found is not None
    (block,) = found.blocks
    (table,) = block.tables
    assert list(table.head)[-1] == "lost operations"
    assert table.rows == [["tpp", "1.05 s, 9 slices", "250", "9,000, 3, 3, 3, 3, 3, 3, 3, 3", "5"]]
    assert len(block.figures) == 1


def test_a_policy_without_a_time_series_is_not_drawn_but_has_a_row() -> None:
    found = section(run("tpp", 100, warm_up=made_up.warm_up((5, 1))))
    assert found is not None
    assert not found.blocks[0].figures
    assert found.blocks[0].tables[0].rows[0][0] == "tpp"


def test_migrations_of_a_kernel_that_does_not_tell_them_are_left_out() -> None:
    told = {key: SERIES[key] for key in ("t_ns", "instructions")}
    warm = made_up.warm_up((10, 1), series=told)
    found = section(run("tpp", 100, warm_up=warm, series=told))
    assert found is not None
    (figure,) = found.blocks[0].figures
    assert figure.table
    assert list(figure.table.head) == ["ms", "instructions/ns"]


def test_there_is_no_section_on_cold_runs() -> None:
    assert section(run("tpp", 100, warm_up=None)) is None
