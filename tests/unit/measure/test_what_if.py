# SPDX-License-Identifier: GPL-2.0
"""Placement by page kind: the rows, their jobs, and the rows that are not run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kloc.base.errors import KlocError
from kloc.machine import model_config, profile
from kloc.machine.parts import Parts
from kloc.measure import policy, runner, task, what_if, workload
from kloc.measure.policy import Policy
from kloc.measure.record import Run
from kloc.measure.task import Task

MEMORY = {"fast": "/fast", "slow": "/slow", "page": "/page"}
STALLS = {
    "fast": {"anon": {"user": 500, "kernel": 100}},
    "slow": {
        "file": {"user": 0, "kernel": 200},
        "slab:dentry": {"user": 0, "kernel": 150},
        "slab:inode_cache": {"user": 0, "kernel": 40},
        "stack": {"user": 0, "kernel": 10},
    },
}


def test_every_kind_is_in_one_group() -> None:
    kinds = [kind for kinds in what_if.KERNEL.values() for kind in kinds]
    assert len(kinds) == len(set(kinds))
    assert not set(kinds) & set(what_if.APPLICATION)
    both = next(row for row in what_if.rows() if row.name == what_if.BOTH)
    assert sorted(both.fast) == sorted([*kinds, *what_if.APPLICATION])
    assert what_if.group_of("slab:dentry") == "slab"
    assert what_if.group_of("anon") is None
    assert what_if.group_of("a future kind") == "the rest"


def test_rows_differ_only_in_the_kinds_in_fast_memory() -> None:
    host = profile.load("tiered")
    todo = what_if.tasks(what_if.rows(), workload.load("redis"), host, 3, workload.QUICK)
    assert len({str(task.job().settings) for task in todo}) == 1
    assert todo[0].job().settings == policy.load("all-slow").settings("redis", host)
    assert {task.job().timing for task in todo} == {None}
    assert [task.frames for task in todo] == [True] + [False] * (len(todo) - 1)
    texts = [model_config.model_config(task.job(), Path("/run"), MEMORY) for task in todo]
    assert "\nfast_kinds=\n" in texts[0]
    assert "\nfast_kinds=anon,shmem,slab:*\n" in texts[5]
    assert "force_tier" not in "".join(texts)


def test_an_ordinary_run_is_not_placed_by_kind() -> None:
    redis, tiered = workload.load("redis"), profile.load("tiered")
    (run,) = task.tasks([redis], [policy.load("tpp")], tiered, [1], workload.FULL)
    assert "fast_kinds" not in model_config.model_config(run.job(), Path("/run"), MEMORY)


def test_groups_have_shares_of_the_stall_time() -> None:
    shares = what_if.shares({"stall_ns": STALLS})
    assert shares["page cache"] == 0.2
    assert shares["slab"] == 0.19
    assert shares["the rest"] == 0.01
    assert shares["sockets"] == 0
    assert not any(what_if.shares({"stall_ns": {}}).values())


def made_up_run(task_policy: Policy) -> Run:
    run: Run = {
        "policy": task_policy.name,
        "stall_ns": STALLS,
        "machine": {"fast_bytes": 192 << 20},
        "pages": {"fast": {"anon": 2560, "free": 10_000}, "slow": {"file": 9}},
    }
    if task_policy.fast_kinds is not None:
        run["placement"] = {"fast": list(task_policy.fast_kinds)}
    return run


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make up all runs; the list has the names of those that were requested."""
    requested: list[str] = []

    def measure(
        todo: Sequence[Task], policies: Sequence[Policy], parts: Any, followed: bool
    ) -> list[Run]:
        requested.extend(task.policy.name for task in todo)
        return [made_up_run(row_policy) for row_policy in policies]

    monkeypatch.setattr(what_if, "measure", measure)
    return requested


def test_groups_with_little_stall_time_are_not_run(measured: list[str]) -> None:
    redis = workload.load("redis")
    parts = cast(Parts, SimpleNamespace())
    runs, skipped = what_if.run(redis, profile.load("tiered"), 1, workload.QUICK, parts)
    assert skipped == ["block devices", "page tables", "sockets"]
    assert [run["policy"] for run in runs] == [
        "all-slow",
        "kernel",
        "application",
        "application + page cache",
        "application + slab",
        "application + the rest",
        "oracle",
        "all-fast",
    ]
    assert sorted(measured) == sorted(run["policy"] for run in runs if run["policy"] != "oracle")
    needed, not_run = what_if.remarks(runs, skipped)
    assert "192" in needed
    assert "kernel 10, application 10, " in needed and "all-fast" not in needed
    assert not_run.endswith(": block devices, page tables, sockets")


def test_finished_runs_are_kept_if_a_group_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(todo: Sequence[Task], policies: Sequence[Policy], *_: object) -> list[Run]:
        runs = [made_up_run(row_policy) for row_policy in policies]
        if policies[-1].name == what_if.ORACLE:
            return runs
        raise runner.Incomplete({runs[0]["policy"]: KlocError("it crashed")}, runs[1:])

    monkeypatch.setattr(what_if, "measure", measure)
    parts = cast(Parts, SimpleNamespace())
    with pytest.raises(runner.Incomplete) as failed:
        what_if.run(workload.load("redis"), profile.load("tiered"), 1, workload.QUICK, parts)
    assert [run["policy"] for run in failed.value.runs] == [
        "all-slow",
        "kernel",
        "application",
        "application + slab",
        "application + the rest",
        "oracle",
        "all-fast",
    ]
