# SPDX-License-Identifier: GPL-2.0
"""Runs beside each other: one that fails costs its own figure, not those of the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from kloc import machine, measure, policy, profile, result, workload
from kloc.errors import KlocError

POLICIES = ("all-slow", "stock", "all-fast")


class Ended:
    """A machine that has come to its end; whose measured script is "false", to a bad one."""

    instructions, stage = 0, "measured"

    def __init__(self, job: machine.Job) -> None:
        self.job = job

    def step(self) -> Any:
        if self.job.scripts["measured"] == "false\n":
            raise KlocError("measured ended with status 1", "see above")
        return SimpleNamespace(frames={}, pages=None)


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Machines that end at once; the list is of those that were stopped again."""
    names: list[str] = []

    @contextmanager
    def started(job: machine.Job, parts: Any) -> Iterator[Any]:
        yield Ended(job)
        names.append(job.name)

    def from_raw(job: machine.Job, chosen: policy.Policy, *_: object) -> result.Run:
        return {
            "workload": job.name,
            "policy": chosen.name,
            "seed": job.seed,
            "machine": {"variant": ""},
        }

    monkeypatch.setattr(machine, "started", started)
    monkeypatch.setattr(result, "from_raw", from_raw)
    monkeypatch.setattr(measure, "POLL_SECONDS", 0)
    return names


def task(policy_name: str, script: str) -> measure.Task:
    what = workload.Workload(
        name="w",
        summary="",
        packages=(),
        setup=lambda size, seed: "",
        measured=lambda size, seed: script,
        check=None,
        outcome=lambda printed, size: workload.Outcome(1, None),
    )
    host = profile.load("tiered")
    return measure.Task(what, policy.load(policy_name), host, 1, workload.FULL)


def made(scripts: dict[str, str]) -> list[result.Run]:
    todo = [task(name, script) for name, script in scripts.items()]
    parts: Any = {"w": None}
    return measure.measure(todo, [each.policy for each in todo], parts)


def test_all_runs_come_in_the_order_of_their_policies(stopped: list[str]) -> None:
    runs = made(dict.fromkeys(POLICIES, "true\n"))
    assert [run["policy"] for run in runs] == list(POLICIES)
    assert stopped == ["w"] * 3


def test_one_that_fails_leaves_the_others_their_results(
    stopped: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(measure.Incomplete, match="no figures of w under stock, seed 1") as failed:
        made({"all-slow": "true\n", "stock": "false\n", "all-fast": "true\n"})
    assert [run["policy"] for run in failed.value.runs] == ["all-slow", "all-fast"]
    assert failed.value.hint == "see above"
    assert stopped == ["w"] * 3
    said = capsys.readouterr().err
    assert "w under stock, seed 1 failed: measured ended with status 1" in said


def test_one_alone_says_what_it_met(stopped: list[str]) -> None:
    with pytest.raises(KlocError, match=r"^measured ended with status 1$"):
        made({"stock": "false\n"})
    assert stopped == ["w"]
