# SPDX-License-Identifier: GPL-2.0
"""`kloc tune SCHEME WORKLOAD` on made-up machines: each sample is a run with its threshold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kloc.base import environment, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import tune as command
from kloc.commands import tune_workload
from kloc.machine import launcher
from kloc.measure import host_speed, policy, prepared, runner, workload
from kloc.measure.policy import Policy
from kloc.measure.task import Task
from kloc.schemes import text
from kloc.schemes.sysfs import Attributes
from support import golden, made_up
from support.command import parse

MIB = 1 << 20
BEST_S = 12
"""Younger memory than that is used again: reclaiming it costs time."""


def run(*argv: str) -> int:
    args = parse("tune", *argv)
    args.program = None
    return command.run(args)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks that were measured."""
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(environment, "require", lambda *_: None)
    tasks: list[Task] = []

    def measure(todo: Sequence[Task], policies: Sequence[Policy], parts: Any) -> list[Any]:
        (one,) = todo
        tasks.append(one)
        age = one.policy.scheme.schemes[0].min_age / 1e6 if one.policy.scheme else None
        lost = 0 if age is None else 0.08 * max(0, BEST_S - age) / BEST_S
        mean = float(100 if age is None else 50 + 0.5 * age) * MIB
        memory = {"mean": mean, "resident": mean, "swapped": 0, "samples": 9}
        return [made_up.run(one.policy.name, 1000 / (1 + lost), memory=memory)]

    monkeypatch.setattr(runner, "prepare", lambda *_, **__: {"redis": None})
    monkeypatch.setattr(prepared, "with_disks", lambda todo, _: list(todo))
    monkeypatch.setattr(launcher, "inputs_of", lambda job, _: {"job": str(job)})
    monkeypatch.setattr(runner, "measure", measure)
    return tasks


def test_each_sample_is_a_run_with_its_threshold(
    ran: list[Task], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, plot = tmp_path / "result.json", tmp_path / "plot.svg"
    options = ["--samples", "10", "--quick", "--json", str(path), "--plot", str(plot)]
    assert run("prcl", "redis", *options) == 0
    printed = capsys.readouterr()
    golden.check("tune-workload", printed.out)
    assert "1 of 12: no scheme: 1 s, 100.0 MiB, score +0.000" in printed.err
    result = json.loads(path.read_text())
    assert result["settings"]["workload"] == "redis"
    assert result["settings"]["seed"] == 101
    assert 7e6 < result["best"]["value"] < 20e6
    assert "min-age, s" in plot.read_text()

    assert [one.policy.name for one in ran] == ["baseline", *["prcl"] * 11]
    assert {(one.seed, one.size) for one in ran} == {(101, workload.QUICK)}
    schemes = [one.policy.scheme for one in ran[1:]]
    ages = [one.schemes[0].min_age for one in schemes if one is not None]
    assert ages[0] == 5_000_000
    assert ages[1:] == pytest.approx([one["value"] for one in result["samples"]], abs=1e5)


def test_a_value_that_is_not_better_is_none_for_a_policy(
    ran: list[Task], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measure = runner.measure

    def without_effect(*args: Any) -> Any:
        (one,) = measure(*args)
        memory = {"mean": 100.0 * MIB, "resident": 100.0 * MIB, "swapped": 0, "samples": 9}
        return [made_up.run(one["policy"], 1000, memory=memory)]

    monkeypatch.setattr(runner, "measure", without_effect)
    assert run("prcl", "redis", "--samples", "3") == 0
    printed = capsys.readouterr().out
    assert '    [scheme.for.redis]\n    value = "none"\n    seed = 101\n' in printed


def test_the_seed_is_for_the_workload_too(ran: list[Task]) -> None:
    assert run("prcl", "redis", "--samples", "3", "--seed", "7", "--json", "-") == 0
    assert {one.seed for one in ran} == {7}


def test_a_limit_is_a_time_of_the_host(ran: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(0, 10_000, 60))
    monkeypatch.setattr(tune_workload.time, "monotonic", lambda: next(times))
    assert run("prcl", "redis", "--limit", "6m", "--json", "-") == 0
    assert len(ran) == 6


def test_a_stopped_tuning_continues_without_repeating_runs(
    ran: list[Task], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, kept = tmp_path / "result.json", tmp_path / "kept.json"
    options = ["prcl", "redis", "--samples", "4", "--json", str(path)]
    assert run(*options) == 0
    whole = path.read_text()
    ran.clear()
    stopped, measure = iter([False, False, False, True]), runner.measure

    def until_stopped(*args: Any) -> Any:
        if next(stopped):
            raise KeyboardInterrupt
        return measure(*args)

    monkeypatch.setattr(runner, "measure", until_stopped)
    with pytest.raises(KeyboardInterrupt):
        run(*options, "--resume", str(kept))
    monkeypatch.setattr(runner, "measure", measure)
    assert len(ran) == 3
    assert run(*options, "--resume", str(kept)) == 0
    assert len(ran) == 6
    assert path.read_text() == whole


def test_a_file_without_measurements_is_not_continued(ran: list[Task], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"runs": []}')
    with pytest.raises(KlocError, match="does not have the measurements"):
        run("prcl", "redis", "--samples", "3", "--resume", str(wrong))
    assert wrong.read_text() == '{"runs": []}' and not ran


def test_a_scheme_runs_under_the_policy_of_its_name() -> None:
    ethp = tune_workload.with_scheme("ethp", text.load("ethp"), Attributes(max_regions=50))
    assert ethp.set == policy.load("ethp").set
    assert ethp.scheme is not None and ethp.scheme.attributes.max_regions == 50


def test_a_file_of_schemes_runs_under_the_policy_baseline(tmp_path: Path) -> None:
    schemes = text.parse("4K max min min 3s{1s..9s} max pageout", "mine")
    mine = tune_workload.with_scheme(str(tmp_path / "mine"), schemes, Attributes())
    assert mine.swap == policy.load("baseline").swap
    assert mine.scheme is not None and mine.scheme.at(4e6).schemes[0].min_age == 4_000_000


def test_schemes_of_physical_memory_are_refused() -> None:
    schemes = text.parse("4K max min min 3s{1s..9s} max lru_prio", "mine")
    with pytest.raises(KlocError, match="mine: lru_prio has no effect on processes"):
        tune_workload.with_scheme("mine", schemes, Attributes())


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["prcl", "redis", "--pid", "1", "--samples", "5"], "name either"),
        (["prcl", "reddis", "--samples", "5"], "did you mean 'redis'"),
        # Names come before the length, which nobody wants to say twice.
        (["nope", "redis"], "unknown scheme or policy 'nope'"),
        (["prcl", "nope"], "unknown workload 'nope'"),
        (["prcl", "--pid", "1", "--quick", "--samples", "5"], "need a workload"),
        (["prcl", "redis", "--apply", "--samples", "5"], "need --pid"),
    ],
)
def test_wrong_combinations_are_errors(ran: list[Task], argv: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(*argv)
    assert not ran


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["redis"], "redis is a workload", "kloc tune SCHEME|POLICY redis"),
        (["redis", "prcl"], "redis is a workload", "kloc tune prcl redis --samples 10"),
        (["redis", "tpp"], "redis is a workload", "kloc tune tpp redis"),
        (["redis", "nope"], "redis is a workload", "kloc tune SCHEME|POLICY redis"),
        (["tpp"], "tpp is a policy", "kloc tune tpp WORKLOAD; kloc workloads lists them"),
        (["tpp", "--pid", "1"], "tpp is a policy", "kloc tune tpp WORKLOAD; kloc workloads"),
    ],
)
def test_names_in_the_wrong_place_are_told_the_right_command(
    ran: list[Task], argv: list[str], message: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        run(*argv)
    assert refused.value.hint is not None and refused.value.hint.startswith(hint)
    assert not ran


def test_a_file_of_schemes_may_have_the_name_of_a_workload(
    ran: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("redis").write_text("4K max min min 3s{1s..9s} max pageout\n")
    assert run("redis", "redis", "--samples", "3") == 0
    assert {one.workload.name for one in ran} == {"redis"}


def test_a_dry_run_prints_the_runs_and_measures_nothing(
    ran: list[Task], empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host_speed.note(workload.load("redis").instructions, 60, 1)
    assert run("prcl", "redis", "--samples", "10", "--dry-run") == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "prcl: min_age from 1s to 1m, optimizer gaussian",
        "redis under baseline, seed 101, machine tiered, and under prcl: 12 times (10 samples, "
        "the file's value, no scheme)",
    ]
    assert "about 12 minutes" in printed.err
    assert ran == []


def test_a_dry_run_refuses_what_the_tuning_would_refuse(ran: list[Task], tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text("[]")
    for argv, words in (
        (("prcl", "nosuch"), "workload"),
        (("prcl", "redis", "--machine", "nosuch"), "machine"),
        (("prcl", "redis", "--resume", str(path)), "does not have the measurements"),
    ):
        with pytest.raises(KlocError, match=words):
            run(*argv, "--samples", "10", "--dry-run")
    assert ran == []
