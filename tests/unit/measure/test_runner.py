# SPDX-License-Identifier: GPL-2.0
"""Several runs at once: a failed run does not affect the others."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.machine import job, launcher, profile
from kloc.measure import host_speed, policy, record, runner, task, workload

POLICIES = ("all-slow", "stock", "all-fast")


class Ended:
    """A machine that ends at once, or fails as its measured script says."""

    instructions, stage = 0, "measured"

    def __init__(self, job: job.Job, parts: Any, directory: Path) -> None:
        self.job, self.directory = job, directory
        self.stopped: list[str] = parts

    def __enter__(self) -> Ended:
        if self.job.scripts["measured"] == "full disk\n":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.directory / "job.img"))
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.append(self.job.name)

    def step(self) -> Any:
        if self.job.scripts["measured"] == "false\n":
            console = self.directory / "console"
            console.write_text("the reason\n")
            raise KlocError("measured ended with status 1", f"see {console}")
        if self.job.scripts["measured"] == "Ctrl-C\n":
            raise KeyboardInterrupt
        return SimpleNamespace(frames={"measured": self.job.scripts["measured"]}, pages=None)


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> list[str]:
    """Let machines end at once; the list has the names of stopped machines."""

    def from_raw(job: job.Job, chosen: policy.Policy, *_: object) -> record.Run:
        return {
            "workload": job.name,
            "policy": chosen.name,
            "seed": job.seed,
            "machine": {"variant": ""},
        }

    monkeypatch.setattr(launcher, "Machine", Ended)
    monkeypatch.setattr(record, "from_raw", from_raw)
    monkeypatch.setattr(runner, "POLL_SECONDS", 0)
    monkeypatch.setattr(runner, "at_once", lambda todo: 1)
    return []


def outcome(printed: Mapping[str, str], size: workload.Size) -> workload.Outcome:
    return workload.Outcome(int(printed["measured"]), None)


def made_up_task(policy_name: str, script: str) -> task.Task:
    what = workload.Workload(
        name="w",
        summary="",
        packages=(),
        setup=lambda size, seed: "",
        measured=lambda size, seed: script,
        check=None,
        outcome=outcome,
    )
    host = profile.load("tiered")
    return task.Task(what, policy.load(policy_name), host, 1, workload.FULL)


def made(scripts: dict[str, str], stopped: list[str]) -> list[record.Run]:
    todo = [made_up_task(name, script) for name, script in scripts.items()]
    parts: Any = {"w": stopped}
    return runner.measure(todo, [each.policy for each in todo], parts)


def test_results_are_in_the_order_of_policies(stopped: list[str]) -> None:
    runs = made(dict.fromkeys(POLICIES, "1\n"), stopped)
    assert [run["policy"] for run in runs] == list(POLICIES)
    assert stopped == ["w"] * 3


def test_runs_carry_the_spread_that_their_workload_states(stopped: list[str]) -> None:
    todo = made_up_task("stock", "1\n")
    stated = replace(todo, workload=replace(todo.workload, spread=0.08))
    parts: Any = {"w": stopped}
    assert runner.measure([todo], [todo.policy], parts)[0]["spread"] is None
    assert runner.measure([stated], [todo.policy], parts)[0]["spread"] == 0.08


def test_a_failed_run_does_not_stop_the_others(
    stopped: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(runner.Incomplete, match=r"1 run .*w under stock, seed 1") as failed:
        made({"all-slow": "1\n", "stock": "false\n", "all-fast": "1\n"}, stopped)
    assert [run["policy"] for run in failed.value.runs] == ["all-slow", "all-fast"]
    assert stopped == ["w"] * 3
    messages = capsys.readouterr().err
    assert "w under stock, seed 1" in messages and "measured ended with status 1" in messages


def test_the_console_that_an_error_names_is_kept(stopped: list[str]) -> None:
    with pytest.raises(runner.Incomplete) as failed:
        made({"all-slow": "1\n", "stock": "false\n"}, stopped)
    console = Path(str(failed.value.hint).removeprefix("see "))
    assert console.read_text() == "the reason\n"


def test_a_run_that_cannot_start_does_not_stop_the_others(stopped: list[str]) -> None:
    with pytest.raises(runner.Incomplete, match=r"job\.img: No space left on device") as failed:
        made({"all-slow": "1\n", "stock": "full disk\n", "all-fast": "1\n"}, stopped)
    assert [run["policy"] for run in failed.value.runs] == ["all-slow", "all-fast"]


def test_an_outcome_that_raises_fails_only_its_run(stopped: list[str]) -> None:
    with pytest.raises(runner.Incomplete, match=r"w: .*outcome\(\).*ValueError") as failed:
        made({"all-slow": "1\n", "stock": "a warning\n", "all-fast": "1\n"}, stopped)
    assert [run["policy"] for run in failed.value.runs] == ["all-slow", "all-fast"]
    assert re.match(r"see .*test_runner\.py, line \d+", str(failed.value.hint))


def test_ctrl_c_keeps_the_results_of_finished_runs(stopped: list[str]) -> None:
    with pytest.raises(runner.Interrupted) as ended:
        made({"all-slow": "1\n", "stock": "Ctrl-C\n", "all-fast": "1\n"}, stopped)
    assert [run["policy"] for run in ended.value.runs] == ["all-slow"]
    assert stopped == ["w"] * 2


def test_a_single_run_raises_its_own_error(stopped: list[str]) -> None:
    with pytest.raises(KlocError, match=r"^measured ended with status 1$"):
        made({"stock": "false\n"}, stopped)
    assert stopped == ["w"]


class Once(Ended):
    """A machine in which the measured script succeeds once only."""

    def step(self) -> Any:
        if self.stage == "measured":
            self.stage = "warm-up" if "warm" in self.job.scripts else "check"
            return None
        if self.stage == "warm-up":
            raise KlocError("measured ended with status 1\n    mkdir: File exists")
        return super().step()


def test_a_run_that_fails_after_a_guessed_warm_up_is_made_without_one(
    stopped: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launcher, "Machine", Once)
    runs = made({"all-slow": "1\n", "stock": "1\n"}, stopped)
    assert [run["policy"] for run in runs] == ["all-slow", "stock"]
    assert stopped == ["w"] * 4
    messages = capsys.readouterr().err
    assert "ended with status 1; measuring w under stock, seed 1 without a warm-up" in messages


@pytest.mark.parametrize(
    "said",
    [{"repeatable": True}, {"warm_up": lambda size, seed: "true\n"}],
    ids=lambda said: next(iter(said)),
)
def test_a_run_that_fails_after_a_warm_up_of_its_author_has_failed(
    said: dict[str, Any], stopped: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "Machine", Once)
    todo = made_up_task("stock", "1\n")
    todo = replace(todo, workload=replace(todo.workload, **said))
    parts: Any = {"w": stopped}
    with pytest.raises(KlocError, match="status 1"):
        runner.measure([todo], [todo.policy], parts)
    assert stopped == ["w"]


def test_a_run_that_fails_before_its_warm_up_is_not_repeated(
    stopped: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loading(Once):
        def step(self) -> Any:
            if self.stage == "setup":
                raise KlocError("setup ended with status 1")
            self.stage = "setup"

    monkeypatch.setattr(launcher, "Machine", Loading)
    with pytest.raises(KlocError, match="setup ended"):
        made({"stock": "1\n"}, stopped)
    assert stopped == ["w"]


def test_the_speed_of_the_host_is_kept_unless_a_run_failed(stopped: list[str]) -> None:
    expected = made_up_task("stock", "1\n").job().instructions
    assert expected > 0
    with pytest.raises(KlocError):
        runner.measure([made_up_task("stock", "false\n")], [policy.load("stock")], {"w": stopped})
    assert host_speed.seconds(expected, 1) is None
    runner.measure([made_up_task("stock", "1\n")], [policy.load("stock")], {"w": stopped})
    assert host_speed.seconds(expected, 1) is not None
