# SPDX-License-Identifier: GPL-2.0
"""The figures of a report on runs: their data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from matplotlib.axes import Axes

from kloc.results.report import figure as figures
from kloc.results.report import kinds, plots
from kloc.results.report.cases import Case, cases
from kloc.results.report.figure import COLORS, Table
from kloc.results.report.kinds import STORAGE
from support.made_up import comparison, run

pytestmark = pytest.mark.usefixtures("undrawn")


def only(*runs: dict[str, Any]) -> Case:
    (case,) = cases(runs)
    return case


def rows(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [list(row) for row in table.rows]


def test_headroom_has_the_share_of_each_policy() -> None:
    figure = plots.headroom(only(*comparison(spread=0.1)))
    assert figure is not None
    assert rows(figure.table) == [
        ["naive", "40 %", "", "50 %"],
        ["tpp", "60 %", "", "75 %"],
        ["oracle", "80 %", "", ""],
    ]
    assert figure.table is not None
    assert figure.table.marked == {1}
    undecided = plots.headroom(only(*comparison()))
    assert undecided is not None and undecided.table is not None
    assert undecided.table.marked == frozenset()


def test_headroom_is_not_drawn_without_bounds() -> None:
    assert plots.headroom(only(run("tpp", 1))) is None


def test_time_has_a_row_for_each_part_and_a_column_for_each_policy() -> None:
    figure = plots.time(only(run("tpp", 100), run("stock", 200)))
    assert figure is not None
    assert figure.table is not None
    assert list(figure.table.head) == ["ms", "stock", "tpp"]
    found = {row[0]: row[1:] for row in rows(figure.table)}
    assert found["total"] == ["5,000.00", "10,000.00"]
    assert found["stall, slow: slab"] == ["500.00", "1,000.00"]
    assert found["slab dentry, all tiers"] == ["500.00", "1,000.00"]


def test_the_parts_of_the_time_add_up_and_none_is_zero() -> None:
    times = only(run("tpp", 100)).times("tpp")
    assert times is not None
    parts = plots.parts(times)
    assert sum(seconds for _, _, seconds in parts) == pytest.approx(times.seconds)
    assert all(seconds > 0 for _, _, seconds in parts)
    assert (STORAGE, "", pytest.approx(0.6)) in parts


def test_pages_are_in_mib_by_group_without_free_ones() -> None:
    case = only(run("tpp", 100))
    figure = plots.pages(case, case.runs[0], 2.0)
    assert figure is not None
    assert figure.table is not None
    assert list(figure.table.head) == ["ms", "fast: application, MiB", "slow: slab, MiB"]
    assert rows(figure.table) == [
        ["5.0", "1.0", "1.0"],
        ["10.0", "2.0", "2.0"],
        ["15.0", "2.0", "1.0"],
    ]


def test_pages_are_not_drawn_without_samples() -> None:
    case = only(run("tpp", 100, series={"t_ns": [1]}))
    assert plots.pages(case, case.runs[0], 1.0) is None
    case = only(run("tpp", 100, series={"t_ns": [1, 2]}))
    assert plots.pages(case, case.runs[0], 1.0) is None


def test_the_scale_of_slow_memory_is_the_peak_of_all_runs() -> None:
    more = run("tpp", 1, series={"t_ns": [1, 2], "pages_slow": {"anon": [256, 1024]}})
    assert plots.peak_of_slow_memory([run("tpp", 1), more]) == 4.0
    assert plots.peak_of_slow_memory([run("tpp", 1, series=None)]) > 0


def test_migrations_without_reasons_have_a_rate_by_direction() -> None:
    rates = plots.migration_rates(run("tpp", 100))
    width = 15 / plots.BINS
    assert sum(rates["promoted"]["all"]) * width == pytest.approx(60)
    assert sum(rates["demoted"]["all"]) * width == pytest.approx(30)
    assert rates["demoted"]["all"][0] == 0


def test_migrations_have_a_rate_by_reason_without_those_that_do_not_occur() -> None:
    moved = run("tpp", 100)
    moved["series"]["moved"] = {
        "promoted": {"hint_fault": [0, 40, 60]},
        "demoted": {"demotion": [0, 0, 20], "compaction": [0, 0, 10], "other": [0, 0, 0]},
    }
    rates = plots.migration_rates(moved)
    assert {direction: list(reasons) for direction, reasons in rates.items()} == {
        "promoted": ["hint_fault"],
        "demoted": ["demotion", "compaction"],
    }


def test_the_scale_of_migrations_is_the_peak_of_all_runs() -> None:
    # 40 pages in 5 ms, and then 30 pages in 5 ms in the other direction.
    assert plots.peak_migration_rate([run("tpp", 1)]) == pytest.approx(8)
    assert plots.peak_migration_rate([run("tpp", 1, series=None)]) == 0


def test_migrations_are_not_drawn_if_no_page_moved() -> None:
    case = only(run("tpp", 1, series={"t_ns": [1, 2], "promoted": [0, 0], "demoted": [0, 0]}))
    assert plots.migrations(case, case.runs[0], 1.0) is None


def test_one_variant_is_not_drawn() -> None:
    assert plots.over_variants("redis", [only(*comparison())]) is None


def test_a_long_series_is_thinned_and_keeps_its_ends() -> None:
    kept = plots.thinned(10_000)
    assert (kept[0], kept[-1], len(kept)) == (0, 9_999, plots.POINTS_MAX)
    assert kept == sorted(set(kept))
    assert plots.thinned(3) == [0, 1, 2]


def test_values_are_beside_the_lines_of_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value at the end of its bar was crossed by the line of a bound that is a little higher."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawn: list[Any] = []

    @contextmanager
    def keeping(*arguments: Any, **options: Any) -> Iterator[Any]:
        with figures.drawing(*arguments, **options) as sheet:
            yield sheet
            drawn.append(sheet)

    monkeypatch.setattr(plots, "drawing", keeping)
    case = only(*[{**one, "throughput": 5000 * one["throughput"]} for one in comparison()])
    plots.throughput(case)
    plots.headroom(case)
    for sheet in drawn:
        FigureCanvasAgg(sheet.plot).draw()
        (axes,) = sheet.axes
        values = [text for text in axes.texts if text.get_text()[:1].isdigit()]
        lines = [line.get_window_extent().x1 for line in axes.lines]
        assert len(values) >= 2 and len(lines) >= 2
        assert min(text.get_window_extent().x0 for text in values) > max(lines)


def test_only_stalls_on_slow_memory_have_full_color(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, float] = {}

    def barh(_: Axes, *__: object, color: str, alpha: float, **___: object) -> None:
        drawn[color] = alpha

    monkeypatch.setattr(Axes, "barh", barh)
    stalls = {
        "fast": {"anon": {"user": 1e9}},
        "slow": {"file": {"user": 1e9}},
        "cache": {"slab:dentry": {"kernel": 1e9}},
    }
    plots.time(only(run("tpp", 100, stall_ns=stalls)))
    pale, full = {kinds.APPLICATION, kinds.SLAB}, {kinds.PAGE_CACHE, kinds.COMPUTE, kinds.STORAGE}
    assert {drawn[COLORS[group.color]] for group in pale} == {plots.PALE_ALPHA}
    assert {drawn[COLORS[group.color]] for group in full} == {1.0}
