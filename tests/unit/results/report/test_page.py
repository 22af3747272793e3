# SPDX-License-Identifier: GPL-2.0
"""The page of a report on runs: its sections and notes."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results.document import UNCHANGED
from kloc.results.report.page import page
from kloc.results.report.structure import Page, Section
from support.made_up import comparison, document, run

pytestmark = pytest.mark.usefixtures("undrawn")


def page_of(*runs: dict[str, Any]) -> Page:
    return page(document(*runs))


def section(found: Page, name: str) -> Section:
    (result,) = [section for section in found.sections if section.id == name]
    return result


def test_a_page_has_a_card_for_each_case_and_an_overview_of_several() -> None:
    alone = page_of(*comparison())
    assert (len(alone.cards), alone.overview) == (1, None)
    several = page_of(*comparison(), *comparison(workload="rocksdb"))
    assert [card.name for card in several.cards] == ["redis", "rocksdb"]
    assert several.overview is not None


def test_title_and_headline_are_the_same() -> None:
    found = page_of(*comparison())
    assert found.headline
    assert found.title == f"kloc: {found.headline}"


def test_subtitle_names_machine_memory_seeds_and_kernel() -> None:
    found = page_of(run("tpp", 1, seed=1), run("tpp", 1, seed=2)).subtitle
    for words in ("tiered", "192 MiB", "1,280 MiB", "1 core", "2 seeds", "6.12.1"):
        assert words in found
    assert "seed 7" in page_of(run("tpp", 1, seed=7)).subtitle


def test_notes_that_differ_in_a_number_become_one_with_a_range() -> None:
    runs = [
        run("tpp", 100, seed=seed, notes=[f"{count} pages were evicted to storage"])
        for seed, count in ((1, 9), (2, 1200))
    ]
    assert page_of(*runs).notes == ["tpp on redis: 9 to 1,200 pages were evicted to storage"]


def test_other_work_of_the_application_is_a_note() -> None:
    runs = [run("tpp", 1), run("kloc", 1, instructions={"user": 3_000_000, "kernel": 1})]
    (note,) = page_of(*runs).notes
    assert note.startswith("redis did different work under kloc (50 % fewer instructions")


def test_a_note_without_a_number_names_all_its_workloads() -> None:
    runs = [run("tpp", 1, name, notes=["odd {}"]) for name in ("redis", "fio")]
    assert page_of(*runs).notes == ["tpp on redis and fio: odd {}"]


def test_throughput_is_a_table_with_the_fastest_policy_marked() -> None:
    (block,) = section(page_of(*comparison(spread=0.1)), "throughput").blocks
    (table,) = block.tables
    assert [row[0] for row in table.rows] == [
        "all-slow",
        "naive",
        "tpp",
        "oracle",
        "all-fast",
    ]
    assert table.marked == {2}
    row = dict(zip(table.head, table.rows[2], strict=True))
    assert (row["ops/s"], row["x all-slow"], row["of all-fast"]) == ("160", "1.60", "80 %")
    assert (row["of headroom"], row["p99"]) == ("60 %", "3 s")
    assert "range" not in row


def test_throughput_has_no_share_of_an_oracle_that_is_no_bound() -> None:
    (block,) = section(page_of(*comparison(), run("kloc", 181)), "throughput").blocks
    (table,) = block.tables
    assert "of headroom" in table.head and "of headroom to oracle" not in table.head


def test_throughput_has_a_range_with_several_seeds() -> None:
    runs = [run("tpp", speed, seed=seed) for seed, speed in ((1, 100), (2, 120))]
    (block,) = section(page_of(*runs), "throughput").blocks
    row = dict(zip(block.tables[0].head, block.tables[0].rows[0], strict=True))
    assert row["range"] == "100 to 120"
    assert "x all-slow" not in row


def test_variants_are_compared_in_a_figure() -> None:
    machine = {**run("tpp", 1)["machine"], "variant": "fast x 2"}
    varied = [run("all-slow", 100, machine=machine), run("tpp", 150, machine=machine)]
    figures = [
        figure
        for block in section(page_of(*comparison(), *varied), "throughput").blocks
        for figure in block.figures
        if figure.table
    ]
    (table,) = [figure.table for figure in figures if figure.table]
    assert list(table.head)[1:] == [UNCHANGED, "fast x 2"]
    assert ["tpp", "1.60", "1.50"] in [list(row) for row in table.rows]


def test_the_legend_of_the_time_has_the_parts_that_occur() -> None:
    legend = [group.label for group in section(page_of(run("tpp", 100)), "time").legend]
    assert legend == ["compute", "application", "slab", "storage wait", "other idle"]


def test_bounds_have_no_figure_of_pages_among_other_policies() -> None:
    (block,) = section(page_of(*comparison()), "pages").blocks
    assert [figure.caption for figure in block.figures] == ["naive, seed 1", "tpp, seed 1"]


def test_the_legend_of_migrations_has_the_reasons_that_occur() -> None:
    moved = run("tpp", 100)
    moved["series"]["moved"] = {
        "promoted": {"hint_fault": [0, 40, 60]},
        "demoted": {"demotion": [0, 0, 20], "compaction": [0, 0, 10], "other": [0, 0, 0]},
    }
    legend = [group.label for group in section(page_of(moved), "migrations").legend]
    assert legend == ["hint fault", "reclaim", "compaction"]


def test_policies_that_moved_no_page_are_named() -> None:
    still = {"promoted": {"anon": 0}, "demoted": {}}
    idle = run("naive", 100, series={}, migrated_pages=still)
    (block,) = section(page_of(idle, run("tpp", 100)), "migrations").blocks
    (line,) = block.lines
    assert "naive" in line and "tpp" not in line
    assert [list(row) for row in block.tables[0].rows] == [
        ["naive", "0", "0", "7"],
        ["tpp", "3", "4", "7"],
    ]


def test_moved_pages_without_a_time_series_are_in_the_table() -> None:
    (block,) = section(page_of(run("tpp", 100, series={})), "migrations").blocks
    assert not block.lines and not block.figures
    assert [list(row) for row in block.tables[0].rows] == [["tpp", "3", "4", "7"]]


def test_who_moved_the_pages_is_a_second_table() -> None:
    by = {"promoted": {"hint_fault": 3}, "demoted": {"context": 3, "lru": 1}}
    found = section(page_of(run("kloc", 100, moved_by=by), run("tpp", 100)), "migrations")
    assert "hint faults of NUMA balancing" in found.intro
    _, table = found.blocks[0].tables
    assert table.head[:4] == ["policy", "direction", "pages", "contexts, %"]
    assert [list(row) for row in table.rows] == [
        ["kloc", "promoted", "3", "0", "0", "100", ""],
        ["kloc", "demoted", "4", "75", "0", "", "25"],
    ]


def test_results_without_that_count_have_no_second_table() -> None:
    found = section(page_of(run("tpp", 100)), "migrations")
    assert len(found.blocks[0].tables) == 1
    assert "second" not in found.intro


def test_background_threads_that_did_little_are_left_out() -> None:
    (block,) = section(page_of(run("tpp", 1000)), "background").blocks
    assert [list(row[:4]) for row in block.tables[0].rows] == [["tpp", "kswapd0", "50 ms", "5.0 %"]]


def test_a_daemon_is_shown_with_the_threads() -> None:
    daemon = {"start": "watch", "time_ns": 20_000_000, "on_workload_cores": False}
    (block,) = section(page_of(run("damo-tier", 1000, daemon=daemon)), "background").blocks
    rows = [list(row[:4]) for row in block.tables[0].rows]
    assert ["damo-tier", "daemon", "20 ms", "2.0 %"] in rows


def test_background_threads_without_work_leave_a_line() -> None:
    (block,) = section(page_of(run("tpp", 1000, background={})), "background").blocks
    assert not block.tables
    assert len(block.lines) == 1


def test_settings_that_differ_are_shown_for_each_workload() -> None:
    other = {"/proc/sys/vm/zone_reclaim_mode": "1"}
    runs = [run("tpp", 1), run("tpp", 1, "fio", settings=other), run("stock", 1, settings={})]
    blocks = section(page_of(*runs), "settings").blocks
    assert [block.title for block in blocks] == ["tpp for redis", "tpp for fio"]
    assert [list(row) for row in blocks[1].tables[0].rows] == [list(*other.items())]
