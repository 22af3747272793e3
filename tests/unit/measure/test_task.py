# SPDX-License-Identifier: GPL-2.0
"""Tasks: the runs of a comparison, and the workload names in policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.measure import policy, task, workload
from kloc.measure.oracle import Placement
from kloc.measure.task import Task, follow_up


def comparison(*policies: str) -> list[Task]:
    """Return the runs of redis under these policies, with two seeds."""
    return task.tasks(
        [workload.load("redis")],
        [policy.load(name) for name in policies],
        profile.read("tiered"),
        [1, 2],
        workload.QUICK,
    )


def test_every_policy_has_tables_of_existing_workloads_only() -> None:
    tuned = {name: set(policy.load(name).for_workload) for name in policy.names()}
    assert {name: found - set(workload.names()) for name, found in tuned.items()} == {
        name: set() for name in tuned
    }


def test_runs_are_ordered_by_seed_then_policy() -> None:
    runs = [(run.seed, run.policy.name) for run in comparison("tpp", "stock")]
    assert runs == [(1, "tpp"), (1, "stock"), (2, "tpp"), (2, "stock")]


@pytest.mark.parametrize("policies", [("oracle",), ("all-slow", "oracle"), ("oracle", "all-slow")])
def test_a_policy_that_follows_is_not_listed_but_its_source_once(
    policies: tuple[str, ...],
) -> None:
    runs = comparison(*policies)
    assert [(run.seed, run.policy.name, run.frames) for run in runs] == [
        (1, "all-slow", True),
        (2, "all-slow", True),
    ]


def test_a_disk_is_prepared_by_the_workload_and_is_that_of_the_job(tmp_path: Path) -> None:
    (run,) = task.tasks(
        [workload.load("rocksdb")],
        [policy.load("tpp")],
        profile.read("tiered"),
        [1],
        workload.QUICK,
    )
    assert run.workload.prepare is not None
    assert "rocksdb_clients load" in run.workload.prepare(workload.QUICK, 1)
    assert "rocksdb_clients load" not in run.job().scripts["setup"]
    assert run.job().disk is None
    assert replace(run, disk=tmp_path).job().disk == tmp_path


def test_frames_are_recorded_only_for_a_policy_that_follows() -> None:
    assert not any(run.frames for run in comparison("tpp", "all-slow"))


def test_a_run_warms_up_unless_it_is_cold() -> None:
    (warm, _) = comparison("tpp")
    assert "warm" in warm.job().scripts
    cold = replace(warm, cold=True)
    assert cold.job().scripts.keys() == warm.job().scripts.keys() - {"warm"}
    assert cold.listing() == f"{warm.listing()}, cold"


def test_a_run_that_follows_is_as_cold_as_the_first() -> None:
    placement = Placement(b"", 0, 0, 0)
    (warm, _) = comparison("all-slow")
    for first in (warm, replace(warm, cold=True)):
        assert follow_up(first, policy.load("oracle"), placement).cold == first.cold


def test_a_title_has_workload_policy_seed_and_variant() -> None:
    (title, _) = (run.title() for run in comparison("tpp"))
    assert "redis" in title and "tpp" in title and title.endswith("seed 1")


def test_an_unknown_workload_in_a_policy_is_refused_with_file_and_nearest_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    (tmp_path / "mine.toml").write_text('summary = "s"\n[for.rocksbd]\n"/sys/a" = 1\n')
    with pytest.raises(KlocError, match=r"mine\.toml: \[for\.rocksbd\].*'rocksdb'"):
        comparison("mine")


def test_an_unknown_workload_in_the_other_policy_is_refused_with_that_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    (tmp_path / "mine.toml").write_text('summary = "s"\nlike = "base"\n')
    (tmp_path / "base.toml").write_text('summary = "b"\n[for.rocksbd]\n"/sys/a" = 1\n')
    with pytest.raises(KlocError, match=r"base\.toml: \[for\.rocksbd\]"):
        comparison("mine")
