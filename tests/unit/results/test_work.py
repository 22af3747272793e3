# SPDX-License-Identifier: GPL-2.0
"""Policies under which the application did other work for an operation are named."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import work
from support.made_up import document, oracle, run


def worked(policy: str, user: float, **other: Any) -> dict[str, Any]:
    """Return a run of 1000 operations with so many instructions of the application each."""
    return run(policy, 100, **{"instructions": {"user": 1000 * user, "kernel": 5}, **other})


@pytest.mark.parametrize("user", [97.1, 100, 102.9])
def test_the_same_work_has_no_line(user: float) -> None:
    assert work.lines(document(worked("tpp", 100), worked("kloc", user))) == []


@pytest.mark.parametrize(("user", "how"), [(85, "15 % fewer"), (104, "4 % more")])
def test_other_work_is_named_with_its_size(user: float, how: str) -> None:
    (line,) = work.lines(document(worked("tpp", 100), worked("kloc", user)))
    assert line == (
        f"redis did different work under kloc ({how} instructions of the application per "
        "operation than under tpp)"
    )


def test_all_policies_of_a_workload_are_in_one_line() -> None:
    bound = worked("all-fast", 110)
    placed = {**oracle(100), "instructions": {"user": 120_000, "kernel": 5}}
    runs = [worked("tpp", 100), worked("kloc", 90), worked("stock", 99), bound, placed]
    (line,) = work.lines(document(*runs, worked("tpp", 7, workload="fio")))
    assert line.startswith("redis did different work under kloc (10 % fewer ")
    assert line.endswith("than under tpp); all-fast (10 % more); oracle (20 % more)")


def test_variants_and_baselines_are_told_apart() -> None:
    machine = {**worked("tpp", 1)["machine"], "variant": "fast x 2"}
    runs = [worked("tpp", 100), worked("kloc", 100)]
    runs += [worked("tpp", 100, machine=machine), worked("kloc", 80, machine=machine)]
    (line,) = work.lines(document(*runs))
    assert line.startswith("redis, fast x 2 did different work under kloc (20 % fewer")
    (line,) = work.lines(document(*runs), "kloc")
    assert "under tpp (25 % more" in line and "than under kloc" in line


def test_one_seed_of_three_that_differs_is_no_other_work() -> None:
    users = {1: 100, 2: 101, 3: 70}
    runs = [worked("tpp", 100, seed=seed) for seed in users]
    runs += [worked("kloc", user, seed=seed) for seed, user in users.items()]
    assert work.lines(document(*runs)) == []


def test_runs_without_instructions_or_operations_are_not_compared() -> None:
    assert work.lines(document(worked("tpp", 100), worked("kloc", 50, operations=0))) == []
    assert work.lines(document(worked("tpp", 100), worked("kloc", 50, instructions=None))) == []
    assert work.lines(document(worked("mine", 100), worked("other", 50))) == []
