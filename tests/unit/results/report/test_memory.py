# SPDX-License-Identifier: GPL-2.0
"""The section of a report on performance and memory efficiency."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import efficiency
from kloc.results.report import memory, page
from support.made_up import document, run

pytestmark = pytest.mark.usefixtures("undrawn")

MIB = 1 << 20


def sampled(policy: str, speed: float, resident: int, swapped: int, **other: Any) -> dict[str, Any]:
    """Return a run that mapped `resident` MiB and had `swapped` MiB in swap."""
    used = {
        "mean": float((resident + swapped) * MIB),
        "resident": float(resident * MIB),
        "swapped": float(swapped * MIB),
        "samples": 9,
    }
    return run(policy, speed, **{"memory": used, **other})


RUNS = [
    sampled("baseline", 1000, 400, 0),
    sampled("prcl", 900, 80, 20),
    sampled("thp", 1200, 500, 0),
    sampled("baseline", 50, 80, 0, workload="mail"),
    sampled("prcl", 55, 40, 0, workload="mail"),
]


def test_each_workload_has_a_figure_and_a_table_of_all_policies() -> None:
    found = memory.section(document(*RUNS))
    assert found is not None
    first, second = found.blocks
    assert (first.title, second.title) == ("redis", "mail")
    (table,) = first.tables
    assert [list(row) for row in table.rows] == [
        ["baseline", "1.00", "1.00", "400", "0"],
        ["prcl", "0.90", "4.00", "80", "20"],
        ["thp", "1.20", "0.80", "500", "0"],
    ]
    assert [figure.title for figure in second.figures] == [
        "Performance and memory efficiency on mail"
    ]


def test_baseline_is_that_of_the_document() -> None:
    content = efficiency.included(document(*RUNS), "prcl")
    found = memory.section(content)
    assert found is not None and "Relative to prcl" in found.intro
    assert found.blocks[0].tables[0].rows[0][0] == "prcl"


def test_runs_without_samples_have_no_section() -> None:
    assert memory.section(document(run("stock", 50), run("tpp", 100))) is None
    ids = [one.id for one in page.page(document(run("stock", 50), run("tpp", 100))).sections]
    assert "memory" not in ids


def test_the_page_has_the_section() -> None:
    assert "memory" in [one.id for one in page.page(document(*RUNS)).sections]
