# SPDX-License-Identifier: GPL-2.0
"""The tables of where the time of the cores went."""

from __future__ import annotations

from typing import Any

import pytest
from rich.table import Table

from kloc.results import core_time
from kloc.results.core_time import CoreTime
from support import golden
from support.made_up import run

SECOND = 1_000_000_000


def busy(policy: str = "tpp", workload: str = "redis", **other: Any) -> dict[str, Any]:
    """Return a run of a second on two cores and a spare one; `other` replaces keys.

    Of the 2 s of core time, 0.2 s are idle, 0.3 s are stalls in user mode and 0.3 s in kernel mode.
    The rest are instructions, a quarter of them in kernel mode. The spare core stalls for 0.1 s.
    """
    stalls = {
        "fast": {"anon": {"user": 0.1 * SECOND, "kernel": 0.0}},
        "slow": {
            "anon": {"user": 0.2 * SECOND, "kernel": 0.1 * SECOND},
            "slab:dentry": {"kernel": 0.2 * SECOND},
            "slab:filp": {"kernel": 0.1 * SECOND},
        },
    }
    core = {"user": 300, "kernel": 100, "stall_ns": 0.3 * SECOND, "idle_ns": 0.1 * SECOND}
    spare = {"user": 0, "kernel": 50, "stall_ns": 0.1 * SECOND, "idle_ns": 0.8 * SECOND}
    return {
        **run(policy, 1000.0, workload, cores=2, stall_ns=stalls, by_core=[core, core, spare]),
        **other,
    }


def cells(table: Table) -> list[list[str]]:
    return [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]


def test_shares_are_instructions_and_stalls_of_each_mode() -> None:
    time = CoreTime.of(busy())
    assert time is not None
    # User: 0.9 s of instructions and 0.3 s of stalls. Kernel: 0.3 s and 0.4 s less the spare core.
    assert time.user == pytest.approx(1.2 / 2)
    assert time.user_stalls == pytest.approx(0.3 / 2)
    assert time.kernel == pytest.approx(0.6 / 2)
    assert time.kernel_stalls == pytest.approx(0.3 / 2)
    assert time.idle == pytest.approx(0.2 / 2)
    assert time.user + time.kernel + time.idle == pytest.approx(1)
    assert time.kernel_of_busy == pytest.approx(0.6 / 1.8)


@pytest.mark.parametrize("missing", ["by_core", "stall_ns"])
def test_a_run_that_lacks_a_part_has_no_shares(missing: str) -> None:
    one = busy()
    del one[missing]
    assert CoreTime.of(one) is None


def test_stalls_without_modes_give_no_shares_but_stalls() -> None:
    one = busy(stall_ns={"slow": {"anon": 0.6 * SECOND}})
    assert CoreTime.of(one) is None
    (stalls,) = core_time.tables([one], 80)
    assert cells(stalls) == [["redis", "tpp", "slow", "300", "300"]]


def test_stalls_are_per_second_of_core_time_and_slab_caches_are_one_kind() -> None:
    _, stalls = core_time.tables([busy()], 80)
    assert [str(column.header) for column in stalls.columns[2:]] == [
        "stalls\non",
        "all",
        "anon",
        "slab",
    ]
    assert cells(stalls) == [
        ["redis", "tpp", "fast", "50", "50", ""],
        ["redis", "tpp", "slow", "300", "150", "150"],
    ]


def test_kinds_with_few_stalls_are_shown_as_one() -> None:
    stalls = {"slow": {"anon": 0.2 * SECOND, "file": 1.2e6, "stack": 0.9e6}}
    _, table = core_time.tables([busy(), busy("stock", stall_ns={**stalls})], 80)
    assert [str(column.header) for column in table.columns[4:]] == ["anon", "slab", "rest"]
    assert cells(table)[-1][-1] == "1"


@pytest.mark.parametrize("width", [50, 80, 200])
def test_as_many_kinds_have_a_column_as_fit(width: int) -> None:
    kinds = [f"kind{number}" for number in range(20)]
    stalls = {"slow": {kind: (30 - number) * 1e6 for number, kind in enumerate(kinds)}}
    (table,) = core_time.tables([busy("kloc-nomigrate", "mail", stall_ns=stalls)], width)
    shown = [str(column.header) for column in table.columns[4:]]
    assert shown == [*kinds[: len(shown) - 1], "rest"]
    assert len(shown) - 1 == {50: 1, 80: 5, 200: core_time.KINDS_MAX}[width]
    (row,) = cells(table)
    assert abs(sum(int(cell) for cell in row[4:]) - int(row[3])) <= len(shown)


def test_figures_are_medians_over_seeds() -> None:
    runs = [
        busy(seed=seed, stall_ns={"slow": {"anon": {"user": part * SECOND}}})
        for seed, part in ((1, 0.2), (2, 0.4), (3, 1.0))
    ]
    shares, stalls = core_time.tables(runs, 80)
    assert cells(stalls) == [["redis", "tpp", "slow", "200", "200"]]
    times = [CoreTime.of(one) for one in runs]
    assert cells(shares)[0][2] == f"{100 * sorted(time.user for time in times if time)[1]:.0f}"


def test_variants_have_rows_of_their_own() -> None:
    machine = {**run("tpp", 1)["machine"], "variant": "fast x 2"}
    shares, stalls = core_time.tables([busy(), busy(machine=machine)], 80)
    assert [row[0] for row in cells(shares)] == ["unchanged", "fast x 2"]
    assert [row[0] for row in cells(stalls)][::2] == ["unchanged", "fast x 2"]


def test_tables_look_as_in_the_golden_file() -> None:
    runs = [busy(policy, name) for name in ("rocksdb", "redis") for policy in ("stock", "kloc")]
    golden.check("tables/core_time", golden.printed(*core_time.tables(runs, 80)))
