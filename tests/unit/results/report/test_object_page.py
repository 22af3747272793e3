# SPDX-License-Identifier: GPL-2.0
"""The page of a report on `kloc objects`."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results.report.kinds import OTHER
from kloc.results.report.object_page import ROWS_MAX, page
from kloc.results.report.structure import Section
from support.made_up import object_document

pytestmark = pytest.mark.usefixtures("undrawn")


def section(document: dict[str, Any], name: str) -> Section:
    (found,) = [section for section in page(document).sections if section.id == name]
    return found


def test_headline_has_the_kernels_share_of_the_last_input() -> None:
    found = page(object_document())
    for words in ("redis", "75 %"):
        assert words in found.headline
    assert found.title == f"kloc: {found.headline}"


def test_headline_without_pages_names_the_workload() -> None:
    document = object_document()
    document["inputs"] = {"small": None}
    assert "redis" in page(document).headline


def test_kinds_of_a_later_kloc_are_the_kernels() -> None:
    document = object_document()
    large = document["inputs"]["large"]
    large["a new kind"] = large.pop("file")
    assert "75 %" in page(document).headline
    assert OTHER in section(document, "shares").legend


def test_a_card_has_the_kernels_shares_and_median_lifetimes() -> None:
    small, large = page(object_document()).cards
    assert [value for value, _ in small.facts] == ["40 %", "50 %", "50 %"]
    assert [value for value, _ in large.facts] == ["75 %", "75 %", "75 %"]
    (remark,) = small.remarks
    assert "application 2 s" in remark and "slab (dentry) 36 ms" in remark


def test_shares_have_a_column_for_each_measure_and_input() -> None:
    (block,) = section(object_document(), "shares").blocks
    table = block.tables[0]
    rows = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert list(rows) == ["file", "anon", "slab:dentry"]
    assert rows["file"]["pages, large"] == "750 (75.00 %)"
    assert rows["file"]["pages, small"] == ""
    assert rows["anon"]["misses, small"] == "50.00 %"


def test_durations_that_no_kind_has_have_no_figure() -> None:
    (block,) = section(object_document(), "times").blocks
    (figure,) = block.figures
    assert "Lifetime" in figure.caption
    assert figure.table is not None
    assert [row[0] for row in figure.table.rows] == ["anon", "slab:dentry"]


def test_the_table_of_durations_has_more_kinds_than_the_figure() -> None:
    document = object_document()
    use = document["inputs"]["large"]["anon"]
    document["inputs"]["large"] = {f"slab:{number}": use for number in range(2 * ROWS_MAX)}
    figure = section(document, "times").blocks[0].figures[0]
    assert figure.table is not None
    assert len(figure.table.rows) > 2 * ROWS_MAX


def test_the_command_repeats_the_observation() -> None:
    (block,) = section(object_document(), "repeat").blocks
    assert block.code == "./kloc objects redis --machine tiered --fast 2 --seed 3"
