# SPDX-License-Identifier: GPL-2.0
"""Policies that are daemons: in a policy's file, in the machine's job, and in results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from kloc.base.daemon import Daemon
from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.machine.job import Raw
from kloc.machine.parts import Parts
from kloc.measure import daemon_use, policy, record, runner, task, workload
from kloc.measure.workload import Outcome
from support.made_up_raw import MODEL, run

HOST = profile.load("tiered")
FRAMES = {
    "daemon_begin": "usage_usec 1000\nuser_usec 900\n",
    "daemon_end": "usage_usec 3500\nuser_usec 900\n",
    "moves_begin": "",
    "moves_end": "",
}


def mine(monkeypatch: pytest.MonkeyPatch, directory: Path, text: str) -> policy.Policy:
    """Return the policy "mine" with this text, in a directory of its own."""
    monkeypatch.setattr(policy, "POLICIES", directory)
    (directory / "mine.toml").write_text(f'summary = "s"\n{text}')
    return policy.load("mine")


def a_workload(*packages: str) -> workload.Workload:
    return replace(workload.load("redis"), packages=packages)


def test_a_policy_has_its_daemon_and_its_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one = mine(monkeypatch, tmp_path, '[daemon]\nstart = "watch"\npackages = ["a", "b"]\n')
    assert one.daemon == Daemon("watch\n", ("a", "b"))
    assert one.packages == ("a", "b")
    assert one.watching("redis", HOST)["daemon"] is one.daemon
    assert policy.load("mine").daemon is not None


def test_most_policies_have_none() -> None:
    daemons = {name for name in policy.names() if policy.load(name).daemon}
    assert daemons == {"damo-tier"}
    assert policy.load("tpp").packages == ()


def test_a_mistake_in_the_table_names_file_and_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(KlocError, match=r"mine\.toml: daemon\.start is missing"):
        mine(monkeypatch, tmp_path, '[daemon]\npackages = ["a"]\n')
    both = '[daemon]\nstart = "x"\n[scheme]\ntarget = "physical"\n'
    with pytest.raises(KlocError, match=r"mine\.toml: .*\[scheme\] or \[daemon\], and not both"):
        mine(monkeypatch, tmp_path, both)


def test_like_takes_the_daemon_with_files_beside_the_other_policy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "watch.sh").write_text("#!/bin/sh\n")
    (base / "watch.sh").chmod(0o755)
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    text = 'summary = "s"\n[daemon]\nstart = "watch.sh"\nfiles = ["watch.sh"]\n'
    (base / "base.toml").write_text(text)
    policy.load(str(base / "base.toml"))
    (tmp_path / "more.toml").write_text('like = "base"\n')
    used = policy.load("more").daemon
    assert used is not None and used.files == (base / "watch.sh",)


def test_damo_tier_needs_damo_and_moves_nothing_by_the_kernel() -> None:
    one = policy.load("damo-tier")
    assert one.packages == ("damo",)
    assert one.daemon is not None and one.daemon.controls_damon
    settings = one.settings("redis", HOST)
    assert settings["/proc/sys/kernel/numa_balancing"] == "0"
    assert settings == policy.load("damon-tier").settings("redis", HOST)
    assert one.expect == policy.load("damon-tier").expect


def test_the_job_has_the_packages_of_workload_and_daemon() -> None:
    todo = task.Task(a_workload("redis"), policy.load("damo-tier"), HOST, 1, workload.QUICK)
    job = todo.job()
    assert job.packages == ("redis", "damo")
    assert job.daemon == todo.policy.daemon
    assert todo.guest == "redis with damo"


def test_only_policies_with_packages_have_machines_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guests: list[Any] = []

    def prepare(wanted: list[Any], *_: object) -> list[str]:
        guests.extend(wanted)
        return [" ".join(one.packages) for one in wanted]

    monkeypatch.setattr(runner, "prepare_machines", prepare)
    policies = [policy.load(name) for name in ("stock", "damo-tier", "kloc")]
    made: Any = runner.prepare([a_workload("redis")], policies=policies)
    assert made == {"redis": "redis", "redis with damo": "redis damo"}
    assert all(one.sources == guests[0].sources for one in guests)
    # The packages of a workload may have all that the daemon needs.
    guests.clear()
    made = runner.prepare([a_workload("damo")], policies=policies)
    assert made == {"redis": "damo"}


def result(**changes: Any) -> record.Run:
    """Return the result of a run under damo-tier."""
    return run("damo-tier", more={**FRAMES, **changes})


def test_results_have_command_and_time_of_the_daemon() -> None:
    found = result()["daemon"]
    assert found["time_ns"] == 2_500_000
    assert found["start"] == "damo-tier.sh"
    assert found["files"] == ["damo-tier.sh"]
    assert not found["killed"] and not found["on_workload_cores"]
    assert "daemon" not in run("tpp")


def test_results_have_the_versions_of_its_packages() -> None:
    one = result()
    image = SimpleNamespace(versions={"damo": "2.8.3-1", "perl": "5"})
    parts = cast(Parts, SimpleNamespace(image=image))
    daemon_use.add_versions(one, policy.load("damo-tier"), parts)
    assert one["daemon"]["packages"] == {"damo": "2.8.3-1"}
    other = run("tpp")
    daemon_use.add_versions(other, policy.load("tpp"), parts)
    assert "daemon" not in other


def test_what_schemes_of_a_daemon_moved_is_known_on_any_kernel() -> None:
    moves = {"moves_begin": "damon_promoted 1\ndamon_demoted 2\n"}
    moves["moves_end"] = "damon_promoted 8\ndamon_demoted 11\n"
    frames = {**FRAMES, **moves}
    still = {"vmstat_begin": "", "vmstat_end": ""}
    one = run("damo-tier", model={**MODEL, "layout_known": False}, more={**frames, **still})
    assert one["migrated_pages"] == {"promoted": {"unknown": 7}, "demoted": {"unknown": 9}}


def test_a_daemon_that_had_to_be_killed_is_noted() -> None:
    assert any(
        "10 s after SIGTERM, and was killed" in note
        for note in result(daemon_killed="yes")["notes"]
    )
    assert not any("daemon" in note for note in result()["notes"])


def test_without_spare_cores_the_time_is_the_workloads() -> None:
    spareless = msgspec.structs.replace(HOST, spare_cores=0)
    used = policy.load("damo-tier")
    todo = task.Task(a_workload(), used, spareless, 1, workload.QUICK)
    frames = {**run_frames(), **FRAMES}
    model = {**MODEL, "cores": MODEL["cores"][:4]}
    one = record.from_raw(todo.job(), used, Outcome(1, None), Raw(frames, model, None, ""))
    assert one["daemon"]["on_workload_cores"]
    assert any("on the workload's cores" in note for note in one["notes"])


def run_frames() -> dict[str, str]:
    """Return the frames of a run that are not about its daemon."""
    seen: dict[str, str] = {}
    original = record.from_raw

    def keep(job: Any, chosen: Any, outcome: Any, raw: Raw, **more: Any) -> record.Run:
        seen.update(raw.frames)
        return original(job, chosen, outcome, raw, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "from_raw", keep)
        run("tpp")
    return seen


def test_a_dry_run_lists_the_packages() -> None:
    policies = [policy.load(name) for name in ("stock", "damo-tier")]
    assert daemon_use.listing(policies) == ["damo-tier is a daemon; packages in its machine: damo"]
