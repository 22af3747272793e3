# SPDX-License-Identifier: GPL-2.0
"""Who moved the pages: the table of `kloc compare --details`, and the lines on contexts."""

from __future__ import annotations

from typing import Any

from kloc.results import moves
from support import golden
from support.made_up import run

CONTEXTS = {"changed": {}, "end": {"knodes": 12}}


def under(policy: str, promoted: dict[str, int], demoted: dict[str, int], **other: Any) -> Any:
    """Return a run whose pages were moved by these, under a policy with contexts if it is kloc's.

    `other` replaces keys.
    """
    moved = {"promoted": promoted, "demoted": demoted}
    contexts = {"tiering": CONTEXTS} if policy.startswith("kloc") else {}
    return run(policy, 1, **{"moved_by": moved, **contexts, **other})


def rows(*runs: dict[str, Any]) -> list[list[str]]:
    """Return the cells of the table's rows."""
    table = moves.table(runs)
    assert table is not None
    return [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]


KLOC = under(
    "kloc",
    {"context": 1000, "page": 5000, "hint_fault": 4000},
    {"context": 30_620, "page": 20, "lru": 52_360},
    workload="rocksdb",
)


def test_the_table_looks_as_in_the_golden_file() -> None:
    runs = [
        under("naive", {}, {}, workload="rocksdb"),
        under("tpp", {"hint_fault": 9000}, {"lru": 8000, "other": 2000}, workload="rocksdb"),
        KLOC,
    ]
    table = moves.table(runs)
    assert table is not None
    golden.check("tables/moves", golden.printed(table))


def test_contexts_have_one_line_for_each_policy_that_has_them() -> None:
    runs = [under("tpp", {"hint_fault": 1}, {}), KLOC, under("kloc-nomigrate", {}, {})]
    assert moves.lines(runs) == [
        "rocksdb/kloc: contexts moved 34 % of the 93,000 pages that were moved",
        "redis/kloc-nomigrate: no page was moved",
    ]


def test_a_policy_whose_contexts_moved_nothing_says_so() -> None:
    assert moves.lines([under("kloc", {"hint_fault": 5}, {"lru": 5})]) == [
        "redis/kloc: contexts moved 0 % of the 10 pages that were moved"
    ]


def test_figures_are_medians_over_seeds() -> None:
    runs = [
        under("kloc", {}, {"context": part, "lru": 100 - part}, seed=seed)
        for seed, part in enumerate((10, 90, 40))
    ]
    runs.append(under("kloc", {}, {}, seed=4))
    # A run that moved nothing has no shares.
    assert rows(*runs[:3]) == [
        ["redis", "kloc", "promoted", "0", "", "", "", ""],
        ["redis", "kloc", "demoted", "100", "40", "0", "", "60"],
    ]
    assert rows(*runs)[1][3:] == ["100", "40", "0", "", "60"]
    (line,) = moves.lines(runs[:3])
    assert "moved 40 % of the 100 pages" in line


def test_variants_are_named() -> None:
    machine = {**KLOC["machine"], "variant": "fast x 2"}
    wide = {**KLOC, "machine": machine}
    assert [row[0] for row in rows(KLOC, wide)] == [
        *["unchanged"] * 2,
        *["fast x 2"] * 2,
    ]
    assert moves.lines([wide])[0].startswith("rocksdb/kloc (fast x 2): contexts moved")


def test_a_direction_that_a_file_lacks_had_no_moves() -> None:
    half = run("tpp", 1, moved_by={"demoted": {"lru": 2}})
    assert [row[3] for row in rows(half)] == ["0", "2"]


def test_results_without_the_counts_show_nothing() -> None:
    old = run("kloc", 1, tiering=CONTEXTS)
    assert moves.table([old]) is None
    assert moves.lines([old]) == []
    assert rows(old, KLOC) == rows(KLOC)
