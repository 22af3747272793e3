# SPDX-License-Identifier: GPL-2.0
"""`kloc tune POLICY WORKLOAD` on made-up machines: the values in [tune] are tried."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kloc.base import environment, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import tune as command
from kloc.machine import launcher
from kloc.measure import host_speed, policy, prepared, runner, workload
from kloc.measure.policy import Policy
from kloc.measure.task import Task
from support import made_up
from support.command import parse

MARK = "/proc/sys/vm/watermark_scale_factor"
AGES = "/sys/kernel/debug/sched/numa_balancing/hot_threshold_ms"

TABLES = f"""\
summary = "s"
[set]
"{MARK}" = 10
[tune]
"{MARK}" = [10, 100, 1000]
"{AGES}" = [23, 200]
"""


def run(*argv: str) -> int:
    args = parse("tune", *argv)
    args.program = None
    return command.run(args)


def speed(settings: Mapping[str, str]) -> float:
    """Return a throughput that is best with 100 and 200."""
    first = {"10": 0.0, "100": 30.0, "1000": 20.0}[settings[MARK]]
    return 100 + first + (5 if settings.get(AGES) == "200" else 0)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Task]:
    """The tasks that were measured under policy "mine"."""
    terminal.stdout.cache_clear()
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(environment, "require", lambda *_: None)
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    (tmp_path / "mine.toml").write_text(TABLES)
    tasks: list[Task] = []

    def measure(todo: Sequence[Task], policies: Sequence[Policy], parts: Any, save: Any) -> None:
        for one in todo:
            tasks.append(one)
            settings = one.policy.settings("redis", one.profile)
            moved = {"promoted": {"anon": 1_000_000}, "demoted": {}}
            inputs = {"job": str(one.job())}
            save(
                [
                    made_up.run(
                        "mine",
                        speed(settings),
                        seed=one.seed,
                        settings=settings,
                        migrated_pages=moved,
                        inputs=inputs,
                    )
                ]
            )

    monkeypatch.setattr(runner, "prepare", lambda *_, **__: {"redis": None})
    monkeypatch.setattr(prepared, "with_disks", lambda todo, _: list(todo))
    monkeypatch.setattr(launcher, "inputs_of", lambda job, _: {"job": str(job)})
    monkeypatch.setattr(runner, "measure", measure)
    return tasks


def test_the_fastest_value_of_each_setting_is_found(
    ran: list[Task], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "result.json"
    assert run("mine", "redis", "--quick", "--json", str(path)) == 0
    result = json.loads(path.read_text())
    assert result["best"] == {"settings": {MARK: "100", AGES: "200"}, "throughput": 135.0}
    assert result["untuned"]["throughput"] == 100.0
    # The policy as it is, is one of the trials of the first setting.
    assert len(ran) == 3 + 2
    assert {(one.seed, one.size) for one in ran} == {(101, workload.QUICK)}
    printed = capsys.readouterr().out
    assert "1.350 times the throughput" in printed
    assert f'[for.redis]\n    "{MARK}" = 100\n    "{AGES}" = 200' in printed


def test_settings_of_another_policy_are_for_its_file(
    ran: list[Task], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.toml").write_text(f'summary = "s"\n[for.redis]\n"{AGES}" = 50\n')
    (tmp_path / "mine.toml").write_text(
        f'summary = "s"\n[tune]\n"{MARK}" = [10, 100]\n[set]\n"{MARK}" = 10\n'
        f'[settings_of]\n"{AGES}" = "other"\n'
    )
    assert run("mine", "redis") == 0
    printed = capsys.readouterr().out
    assert f'of policy mine (found on seed 101):\n    [for.redis]\n    "{MARK}" = 100' in printed
    assert f'of policy other (found on seed 101):\n    [for.redis]\n    "{AGES}" = 50' in printed
    # What is not tried stays as the other policy has it.
    assert {one.policy.settings("redis", one.profile)[AGES] for one in ran} == {"50"}


def test_a_policy_without_settings_to_tune_is_an_error(ran: list[Task], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('summary = "s"\n')
    with pytest.raises(KlocError, match="mine names no settings to tune"):
        run("mine", "redis")


def test_a_stopped_search_continues(ran: list[Task], tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    assert run("mine", "redis", "--resume", str(kept)) == 0
    ran.clear()
    assert run("mine", "redis", "--resume", str(kept)) == 0
    assert ran == []


def test_a_dry_run_prints_the_values_and_measures_nothing(
    ran: list[Task], empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host_speed.note(workload.load("redis").instructions, 60, 1)
    lines = [
        "redis under mine, seed 101, machine tiered, with the settings of the policy's file",
        f"then {MARK}: 10, 100, 1000",
        f"then {AGES}: 23, 200",
        "6 runs, fewer if two are the same",
    ]
    assert run("mine", "redis", "--dry-run") == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == lines
    assert "if this host is as fast" in " ".join(printed.err.split())
    assert ran == []


def test_options_of_schemes_are_refused(ran: list[Task]) -> None:
    with pytest.raises(UsageError, match="mine is a policy, and --samples is for schemes"):
        run("mine", "redis", "--samples", "10")
    assert ran == []


def test_a_file_with_something_else_is_an_error(ran: list[Task], tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(KlocError, match="does not have the trials"):
        run("mine", "redis", "--resume", str(tmp_path / "other.json"))


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (f'"{MARK}" = [10]', "fewer than two values"),
        (f'"{MARK}" = 10', "tune"),
        ('"watermark" = [1, 2]', "not a file under"),
    ],
)
def test_mistakes_in_the_table_are_named(
    table: str, problem: str, ran: list[Task], tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(f'summary = "s"\n[tune]\n{table}\n')
    with pytest.raises(KlocError, match=problem):
        policy.load("mine")


def test_policies_of_the_project_name_settings_that_they_can_write() -> None:
    for name in ("tpp", "kloc"):
        assert MARK in policy.load(name).to_try
