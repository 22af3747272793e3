# SPDX-License-Identifier: GPL-2.0
"""The tables of `kloc bench cost`."""

from __future__ import annotations

import pytest

from kloc.measure.cost.runner import Measured
from kloc.results import cost_table
from support import golden
from support.golden import printed
from support.made_up_costs import MEMORY, measured


def rows(*kernels: Measured) -> list[list[str]]:
    """Return the cells of a table's rows."""
    columns = (column.cells for column in cost_table.table(kernels).columns)
    return [[str(cell) for cell in row] for row in zip(*columns, strict=True)]


def test_tables_are_printed_as_in_the_golden_file() -> None:
    kernels = [
        measured("unpatched"),
        measured("base"),
        measured("kloc", 5),
        measured("on", 45, MEMORY, None),
    ]
    remarks = "\n".join(cost_table.remarks(kernels))
    golden.check("tables/cost", printed(*cost_table.tables(kernels)) + remarks + "\n")


def test_each_group_ends_with_a_row_for_all_its_calls() -> None:
    names = [row[0] for row in rows(measured("unpatched"))]
    assert names == ["open", "write", "files: all", "fork, exit, wait", "processes: all"]


def test_equal_kernels_have_no_differences() -> None:
    for row in rows(measured("unpatched"), measured("base")):
        assert row[3:] == ["0", "0", "0"]


def test_differences_have_a_sign() -> None:
    opened, written, files, *_ = rows(measured("unpatched"), measured("machine", 5))
    assert opened == ["open", "500", "20", "+5", "+1.00", "-1"]
    assert written[3:] == ["0", "0", "0"]
    assert files[3:] == ["+5", "+0.40", "-1"]


def test_overhead_is_that_of_the_named_groups() -> None:
    kernel, baseline = measured("machine", 5), measured("unpatched")
    assert cost_table.overhead(kernel, baseline, ["files"]) == pytest.approx(5 / 1250)
    assert cost_table.overhead(kernel, baseline, ["processes"]) == 0
    assert cost_table.overhead(kernel, baseline) == pytest.approx(5 / 11250)


def test_remarks_have_the_overhead_and_its_bound() -> None:
    (remark,) = cost_table.remarks([measured("unpatched"), measured("machine", 5)])
    for word in ("machine", "+0.40 %", "bound: 0.2 %", "+0.04 %"):
        assert word in remark
    (remark,) = cost_table.remarks([measured("unpatched"), measured("machine", bound=None)])
    assert "no bound" in remark


def test_remarks_have_the_memory_of_contexts_if_there_are_some() -> None:
    baseline = measured("unpatched")
    with_contexts, without = cost_table.remarks(
        [baseline, measured("on", memory=MEMORY), measured("off")]
    )
    for word in ("200 contexts", "20,800 bytes", "0.63 %", "3,200 KiB", "0.10 %"):
        assert word in with_contexts
    assert "contexts" not in without


@pytest.mark.parametrize(("kernels", "expected"), [(1, [1]), (2, [2]), (3, [3]), (4, [3, 2])])
def test_a_table_has_at_most_three_kernels(kernels: int, expected: list[int]) -> None:
    tables = cost_table.tables([measured("unpatched")] * kernels)
    # A column with names, two columns for the baseline, three for each of the others.
    assert [len(table.columns) // 3 for table in tables] == expected
