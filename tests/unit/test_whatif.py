# SPDX-License-Identifier: GPL-2.0
"""Placement by kind: which rows there are, what each is told, which are worth running."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kloc import machine, measure, policy, profile, whatif, workload
from kloc.commands import what_if
from kloc.errors import KlocError
from kloc.machine import Parts
from kloc.measure import Task
from kloc.policy import Policy
from kloc.result import Run

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
    kinds = [kind for kinds in whatif.KERNEL.values() for kind in kinds]
    assert len(kinds) == len(set(kinds))
    assert not set(kinds) & set(whatif.APPLICATION)
    both = next(row for row in whatif.rows() if row.name == whatif.BOTH)
    assert sorted(both.fast) == sorted([*kinds, *whatif.APPLICATION])
    assert whatif.group_of("slab:dentry") == "slab"
    assert whatif.group_of("anon") is None
    assert whatif.group_of("a kind that comes later") == "the rest"


def test_rows_differ_in_nothing_but_the_kinds_that_are_fast() -> None:
    host, what = profile.load("tiered"), workload.load("redis")
    todo = whatif.tasks(whatif.rows(), what, host, 3, workload.QUICK)
    assert len({str(task.job().settings) for task in todo}) == 1
    assert todo[0].job().settings == policy.load("all-slow").settings("redis", host)
    assert {task.job().timing for task in todo} == {None}
    assert [task.frames for task in todo] == [True] + [False] * (len(todo) - 1)
    texts = [machine.model_config(task.job(), Path("/run"), MEMORY) for task in todo]
    assert "\nfast_kinds=\n" in texts[0]
    assert "\nfast_kinds=anon,shmem,slab:*\n" in texts[5]
    assert "force_tier" not in "".join(texts)


def test_an_ordinary_run_is_not_placed_by_kind() -> None:
    host, what = profile.load("tiered"), workload.load("redis")
    (task,) = measure.tasks([what], [policy.load("tpp")], host, [1], workload.FULL)
    assert "fast_kinds" not in machine.model_config(task.job(), Path("/run"), MEMORY)


def test_shares_of_the_stall() -> None:
    shares = whatif.shares({"stall_ns": STALLS})
    assert shares["page cache"] == 0.2
    assert shares["slab"] == 0.19
    assert shares["the rest"] == 0.01
    assert shares["sockets"] == 0
    assert not any(whatif.shares({"stall_ns": {}}).values())


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

    monkeypatch.setattr(whatif, "measure", pretend)
    return asked


def test_groups_that_cannot_matter_are_not_run(measured: list[str]) -> None:
    what = workload.load("redis")
    parts = cast(Parts, SimpleNamespace())
    runs, skipped = whatif.run(what, profile.load("tiered"), 1, workload.QUICK, parts)
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
    lines = whatif.remarks(runs, skipped)
    assert "there are 192: kernel 10, application 10, " in lines[0]
    assert "all-fast" not in lines[0]
    assert lines[1].endswith(": block devices, page tables, sockets")


def test_what_was_measured_is_kept_if_a_group_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def pretend(todo: Sequence[Task], policies: Sequence[Policy], *_: object) -> list[Run]:
        runs = [fake(each) for each in policies]
        if policies[-1].name == whatif.ORACLE:
            return runs
        raise measure.Incomplete({runs[0]["policy"]: KlocError("it crashed")}, runs[1:])

    monkeypatch.setattr(whatif, "measure", pretend)
    parts = cast(Parts, SimpleNamespace())
    with pytest.raises(measure.Incomplete) as failed:
        whatif.run(workload.load("redis"), profile.load("tiered"), 1, workload.QUICK, parts)
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
