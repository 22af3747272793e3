# SPDX-License-Identifier: GPL-2.0
"""Tables of results as documents show them."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import ahead, document_tables, inputs, marked
from kloc.results.ahead import Comparison
from kloc.results.wanted import Wanted
from support import golden
from support.made_up import document, run

COMMIT = "14676ac0123456789abcdef0123456789abcdef0"
SPEEDS = {"all-slow": 40.0, "tpp": 100.0, "kloc": 120.0, "all-fast": 200.0}


def content(*seeds: int) -> dict[str, Any]:
    """Return results of four policies and two workloads, which differ by up to 10 % by seed."""
    runs = [
        run(
            policy,
            factor * speed * (1 + 0.05 * seed * (policy == "kloc")),
            workload,
            seed=seed,
            inputs={"kernel": "71c8aa0311223344", "job_disk": f"{policy} {seed}"},
        )
        for workload, factor in (("redis", 1000.0), ("mail", 1.0))
        for policy, speed in SPEEDS.items()
        for seed in seeds
    ]
    return document(*runs)


def table(form: str, **other: Any) -> Wanted:
    """Return a table of all results of `content`; `other` replaces fields."""
    fields = {"policies": tuple(SPEEDS), "workloads": ("redis", "mail"), **other}
    return Wanted("a", "README.md", form, **fields)


def text(wanted: Wanted, *seeds: int) -> str:
    return "\n".join(document_tables.lines(wanted, content(*seeds), COMMIT))


@pytest.mark.parametrize(
    ("name", "wanted", "seeds"),
    [
        ("terminal", table("terminal"), (1,)),
        ("workloads", table("workloads", seeds=3), (1, 2, 3)),
        ("workloads_one_seed", table("workloads"), (1,)),
        ("workloads_ranges", table("workloads", seeds=3, compared=(), ranges=True), (1, 2, 3)),
        ("ratios", table("ratios", policies=("tpp", "kloc"), seeds=3), (1, 2, 3)),
        ("ratios_of_two", table("ratios", compared=("kloc", "tpp"), against="all-slow"), (1,)),
        ("stalls", table("stalls", policies=("tpp", "kloc"), seeds=3), (1, 2, 3)),
        ("spread", table("spread", policies=("tpp", "kloc"), seeds=3), (1, 2, 3)),
    ],
)
def test_forms_look_as_in_the_golden_files(
    name: str, wanted: Wanted, seeds: tuple[int, ...]
) -> None:
    golden.check(f"tables/document_{name}", text(wanted, *seeds))


def test_the_last_line_names_command_commit_and_inputs() -> None:
    lines = document_tables.lines(table("workloads"), content(1), COMMIT)
    command = "./kloc compare redis mail --policies all-slow,tpp,kloc,all-fast"
    assert lines[-1].startswith(f"Operations per second, one seed. Measured with `{command}` at ")
    found = marked.stamp(lines)
    assert found is not None
    assert COMMIT.startswith(found.commit)
    assert found.inputs == inputs.fingerprint(content(1)["runs"])


def test_a_terminal_is_shown_as_code_and_as_kloc_compare_prints_it() -> None:
    lines = document_tables.lines(table("terminal"), content(1), COMMIT)
    assert all(not line or line.startswith("    ") for line in lines[:-1])
    assert "kloc against tpp, seed by seed:" in [line.strip() for line in lines]
    assert all(len(line) <= 84 for line in lines[:-1])


def test_stalls_on_kinds_without_a_column_are_the_rest() -> None:
    kinds = {"anon": 1, "shmem": 2, "file": 4, "slab:dentry": 8, "slab:filp": 16, "stack": 32}
    stalls = {kind: {"user": 1e6 * ms} for kind, ms in {**kinds, "blockdev": 64}.items()}
    slow = {"fast": {"anon": {"user": 9e9}}, "slow": stalls}
    runs = document(run("tpp", 1000.0, stall_ns=slow, inputs={"kernel": "a"}))
    wanted = table("stalls", workloads=("redis",), policies=("tpp",))
    (row,) = [
        line
        for line in document_tables.lines(wanted, runs, COMMIT)
        if line.startswith("| `redis` |")
    ]
    assert row == "| `redis` | `tpp` | 3 | 4 | 24 | 32 | 64 | 127 |"


@pytest.mark.parametrize(
    ("ratios", "spread"),
    [
        ((1.0, 1.0), 0.0),
        ((0.8, 1.25), 0.25),
        ((1.0, 1.21), 0.1),
        ((1.0, 1.0, 1.331), 0.21),
    ],
)
def test_a_spread_bounds_the_distance_of_every_seed_from_the_mean(
    ratios: tuple[float, ...], spread: float
) -> None:
    found = Comparison("redis", "", "kloc", "tpp", dict(enumerate(ratios, 1)))
    assert document_tables.spread(found) == pytest.approx(spread)
    stated = document_tables.spread(found)
    for ratio in ratios:
        assert ratio / (1 + stated) <= found.ratio + 1e-9 <= ratio * (1 + stated) + 2e-9


def test_spreads_are_the_largest_of_the_policies_compared() -> None:
    wanted = table("spread", compared=("kloc", "all-slow"), seeds=3)
    found = document_tables.spreads(wanted, content(1, 2, 3))
    (kloc,) = [
        one
        for one in ahead.comparisons(content(1, 2, 3)["runs"], "tpp")
        if (one.workload, one.policy) == ("redis", "kloc")
    ]
    assert found == dict.fromkeys(("redis", "mail"), document_tables.spread(kloc))
    assert 0.04 < found["redis"] < 0.06
