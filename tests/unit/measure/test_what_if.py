# SPDX-License-Identifier: GPL-2.0
"""Placement by kind: which rows there are, what each is told, which are worth running."""

from __future__ import annotations

import argparse
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
    assert what_if.group_of("a kind that comes later") == "the rest"


def test_rows_differ_in_nothing_but_the_kinds_that_are_fast() -> None:
    host, what = profile.load("tiered"), workload.load("redis")
    todo = what_if.tasks(what_if.rows(), what, host, 3, workload.QUICK)
    assert len({str(task.job().settings) for task in todo}) == 1
    assert todo[0].job().settings == policy.load("all-slow").settings("redis", host)
    assert {task.job().timing for task in todo} == {None}
    assert [task.frames for task in todo] == [True] + [False] * (len(todo) - 1)
    texts = [model_config.model_config(one.job(), Path("/run"), MEMORY) for task in todo]
    assert "\nfast_kinds=\n" in texts[0]
    assert "\nfast_kinds=anon,shmem,slab:*\n" in texts[5]
    assert "force_tier" not in "".join(texts)


def test_an_ordinary_run_is_not_placed_by_kind() -> None:
    host, what = profile.load("tiered"), workload.load("redis")
    (one,) = task.tasks([what], [policy.load("tpp")], host, [1], workload.FULL)
    assert "fast_kinds" not in model_config.model_config(one.job(), Path("/run"), MEMORY)


def test_shares_of_the_stall() -> None:
    shares = what_if.shares({"stall_ns": STALLS})
    assert shares["page cache"] == 0.2
    assert shares["slab"] == 0.19
    assert shares["the rest"] == 0.01
    assert shares["sockets"] == 0
    assert not any(what_if.shares({"stall_ns": {}}).values())


def fake(task_policy: Policy) -> Run:
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
    """The names of the runs that were asked for."""
    asked: list[str] = []

    def pretend(
        todo: Sequence[Task], policies: Sequence[Policy], parts: Any, followed: bool
    ) -> list[Run]:
        asked.extend(task.policy.name for task in todo)
        return [fake(each) for each in policies]

    monkeypatch.setattr(what_if, "measure", pretend)
    return asked


def test_groups_that_cannot_matter_are_not_run(measured: list[str]) -> None:
    what = workload.load("redis")
    parts = cast(Parts, SimpleNamespace())
    runs, skipped = what_if.run(what, profile.load("tiered"), 1, workload.QUICK, parts)
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
    lines = what_if.remarks(runs, skipped)
    assert "there are 192: kernel 10, application 10, " in lines[0]
    assert "all-fast" not in lines[0]
    assert lines[1].endswith(": block devices, page tables, sockets")


def test_what_was_measured_is_kept_if_a_group_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def pretend(todo: Sequence[Task], policies: Sequence[Policy], *_: object) -> list[Run]:
        runs = [fake(each) for each in policies]
        if policies[-1].name == what_if.ORACLE:
            return runs
        raise runner.Incomplete({runs[0]["policy"]: KlocError("it crashed")}, runs[1:])

    monkeypatch.setattr(what_if, "measure", pretend)
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


def test_a_dry_run_says_which_kinds_are_fast(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    what_if.add_arguments(parser)
    assert what_if.run(parser.parse_args(["redis", "--quick", "--dry-run"])) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "redis under all-slow, seed 1: fast are none"
    assert lines[2] == "redis under application, seed 1: fast are anon, shmem"
    assert lines[-1] == "computed from the first: oracle"
