# SPDX-License-Identifier: GPL-2.0
"""The tables of `kloc objects`."""

from __future__ import annotations

import pytest

from kloc.measure import object_use
from kloc.results import object_table
from support import golden
from support.golden import printed
from support.made_up import OBJECTS


def cells(table_number: int) -> dict[str, list[str]]:
    """Return the cells of a table's rows by the first cell."""
    table = object_table.tables("redis", object_use.uses(OBJECTS))[table_number]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    return {str(name): [str(cell) for cell in row] for name, *row in rows}


def test_tables_are_printed_as_in_the_golden_file() -> None:
    tables = object_table.tables("redis, small input", object_use.uses(OBJECTS))
    golden.check("tables/objects", printed(*tables))


def test_kinds_are_ordered_by_pages_allocated() -> None:
    pages = [int(row[0].replace(",", "")) for row in cells(0).values()]
    assert pages == sorted(pages, reverse=True)


def test_small_slab_caches_share_a_row() -> None:
    rows = cells(0)
    (name,) = [name for name in rows if "other slab" in name]
    assert name.startswith("2 ")
    assert rows[name][0] == "2"
    assert "slab:dentry" in rows
    assert "slab:kmalloc-8" not in rows


def test_times_that_were_not_measured_are_empty() -> None:
    rows = cells(1)
    assert rows["anon"] == ["1.06us", "1.1us", "2.18us", "", "", ""]
    assert rows["file"] == ["", "", "", "4ns", "5ns", "5ns"]
    assert not any(rows["other"])


@pytest.mark.parametrize(
    ("ns", "expected"),
    [(None, ""), (0.4, "0ns"), (999, "999ns"), (1500, "1.5us"), (2.5e7, "25ms"), (3e9, "3s")],
)
def test_durations_have_a_suitable_unit(ns: float | None, expected: str) -> None:
    assert object_table.duration(ns) == expected
