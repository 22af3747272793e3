# SPDX-License-Identifier: GPL-2.0
"""`kloc tune` on made-up DAMON files, with real and made-up commands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kloc.base import environment, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import tune as command
from kloc.schemes import damon
from kloc.tune.score import Measurement
from support import fake_damon, golden
from support.command import parse

MIB = 1 << 20


def run(*argv: str, program: list[str] | None = None) -> int:
    args = parse("tune", *argv)
    args.program = program
    return command.run(args)


@pytest.fixture(autouse=True)
def fake(monkeypatch: Any, tmp_path: Path) -> fake_damon.FakeDamon:
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(environment, "require", lambda *_: None)
    return fake_damon.install(monkeypatch, tmp_path / "root")


class FakeProcess:
    """A process whose memory falls, and whose runtime rises, the younger memory is reclaimed."""

    def __init__(self, pid: int, unit: float, progress: object, setting: Any) -> None:
        self.pid, self.unit, self.setting = pid, unit, setting

    def measure(self, value: float | None) -> Measurement:
        self.setting.start(value, [self.pid])
        self.setting.stop()
        if value is None:
            return Measurement(1.0, 100 * MIB)
        age = value / 1e6
        return Measurement(1.0 + 0.08 * max(0, 12 - age) / 12, (50 + 0.5 * age) * MIB)


@pytest.fixture
def process(monkeypatch: Any) -> None:
    monkeypatch.setattr(command, "Process", FakeProcess)


def test_a_process_is_tuned_and_the_scheme_is_left_applied(
    process: None,
    fake: fake_damon.FakeDamon,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, plot = tmp_path / "result.json", tmp_path / "plot.svg"
    options = ["--pid", "12", "--limit", "30m", "--unit", "2m", "--apply"]
    assert run("prcl", *options, "--json", str(path), "--plot", str(plot)) == 0
    printed = capsys.readouterr()
    assert "1 of 15: no scheme: 1 s, 100.0 MiB, score +0.000" in printed.err
    assert "the tuned scheme runs on process 12; kloc scheme stop ends it" in printed.err
    golden.check("tune", printed.out)
    result = json.loads(path.read_text())
    assert result["verdict"] == "better than no scheme"
    assert len(result["samples"]) == 13
    assert 5e6 < result["best"]["value"] < 20e6
    (kdamond,) = damon.kdamonds()
    assert kdamond.running and damon.is_own(kdamond)
    assert kdamond.schemes[0].min_age == pytest.approx(result["best"]["value"], abs=1e5)
    assert "min-age, s" in plot.read_text()


def test_a_scheme_that_is_not_better_is_not_applied(
    process: None,
    fake: fake_damon.FakeDamon,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    score = tmp_path / "score.py"
    score.write_text("def slower(this, none): return 0 if this is none else -this.runtime\n")
    options = ["--pid", "12", "--samples", "6", "--apply", "--score", f"{score}:slower"]
    assert run("prcl", *options) == 0
    printed = capsys.readouterr()
    assert "the scheme is not applied" in printed.err
    assert "no scheme is better" in printed.out
    assert not fake.running()
    assert damon.kdamonds() == []


def test_a_command_is_tuned(
    fake: fake_damon.FakeDamon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    program = ["sh", "-c", f"echo >>{runs}; sleep 0.3"]
    options = ["--samples", "3", "--optimizer", "paper", "--score-command", "echo $KLOC_RUNTIME"]
    assert run("prcl", *options, "--json", program=program) == 0
    printed = capsys.readouterr()
    assert "takes only 0." in printed.err and "no memory gets older" in printed.err
    assert json.loads(printed.out)["settings"]["command"] == program
    # One more run is not measured.
    assert runs.read_text().count("\n") == 6
    assert fake.commands.count("on") == 4
    assert not fake.running()


def test_a_failing_command_restores_the_settings(fake: fake_damon.FakeDamon) -> None:
    with pytest.raises(KlocError, match="status 3"):
        run("prcl", "--samples", "3", program=["sh", "-c", "exit 3"])
    assert damon.kdamonds() == []
    assert not (fake.root / damon.RECORD.lstrip("/")).exists()


def test_a_command_that_fails_under_the_scheme_restores_the_settings(
    fake: fake_damon.FakeDamon, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    script = f"echo >>{count}; sleep 0.3; [ $(wc -l <{count}) -lt 4 ]"
    with pytest.raises(KlocError, match="status 1"):
        run("prcl", "--samples", "5", program=["sh", "-c", script])
    assert not fake.running()
    assert damon.kdamonds() == []


def test_a_limit_that_is_too_short_says_what_to_do(process: None) -> None:
    with pytest.raises(KlocError, match="the limit is too short: it leaves 0 samples") as error:
        run("prcl", "--pid", "12", "--limit", "4m", "--unit", "2m")
    assert "--samples" in str(error.value.hint)


def test_the_unit_is_twice_the_largest_age(process: None) -> None:
    with pytest.raises(KlocError, match="leaves 2 samples"):
        run("prcl", "--pid", "12", "--limit", "8m")


@pytest.mark.parametrize(
    ("argv", "program", "words"),
    [
        (["prcl", "--samples", "5"], None, "name either a command"),
        (["prcl", "--samples", "5", "--pid", "1"], ["ls"], "name either a command"),
        (["prcl", "--pid", "1"], None, "--limit or --samples"),
        (["prcl", "--samples", "5", "--apply"], ["ls"], "need --pid"),
        (["prcl", "--samples", "5", "--unit", "1s"], ["ls"], "need --pid"),
    ],
)
def test_wrong_combinations_are_errors(
    argv: list[str], program: list[str] | None, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run(*argv, program=program)


def test_what_cannot_be_tuned_changes_nothing(fake: fake_damon.FakeDamon, tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("min max min min 5s max pageout\n")
    with pytest.raises(KlocError, match="marks no threshold") as error:
        run(str(path), "--samples", "5", program=["ls"])
    assert "5s{1s..60s}" in str(error.value.hint)
    path.write_text("min max min min 5s{1s..9s} max lru_prio\n")
    with pytest.raises(KlocError, match="no effect on processes"):
        run(str(path), "--samples", "5", program=["ls"])
    with pytest.raises(KlocError, match=r"\.svg or \.png"):
        run("prcl", "--samples", "5", "--plot", str(tmp_path / "a.pdf"), program=["ls"])
    assert not fake.written


def test_kdamonds_of_others_are_left_alone(fake: fake_damon.FakeDamon) -> None:
    fake.start_others()
    with pytest.raises(KlocError, match="DAMON is in use"):
        run("prcl", "--samples", "5", program=["ls"])
    assert fake.running() and not fake.written


@pytest.mark.parametrize(
    ("option", "value"), [("--sla", "101"), ("--sla", "x"), ("--samples", "2"), ("--limit", "5")]
)
def test_wrong_values_are_named(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse("tune", "prcl", option, value)
    assert f"'{value}'" in capsys.readouterr().err


def test_a_dry_run_prints_how_often_the_command_runs(
    fake: fake_damon.FakeDamon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("prcl", "--samples", "10", "--dry-run", program=["true", "a b"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "prcl: min_age from 1s to 1m, optimizer gaussian",
        "true 'a b', once unmeasured, then 12 times (10 samples, the file's value, no scheme)",
    ]
    run("prcl", "--limit", "30m", "--dry-run", program=["true"])
    assert "then as often as fits into 30m" in capsys.readouterr().out
    assert not fake.written


def test_a_dry_run_prints_how_long_a_process_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pid = os.getpid()
    options = ["--pid", str(pid), "--unit", "30s", "--dry-run"]
    assert run("prcl", *options, "--limit", "10m") == 0
    assert ", 30s under each of 20 values: 10m" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "program", "words"),
    [
        (("--samples", "3"), ["/no/such/program"], "cannot execute /no/such/program"),
        (("--samples", "3", "--pid", "2147483647"), None, "process 2147483647 does not exist"),
        (("--limit", "1m", "--unit", "30s", "--pid", "1"), None, "the limit is too short"),
    ],
)
def test_a_dry_run_refuses_what_the_tuning_would_refuse(
    argv: tuple[str, ...], program: list[str] | None, words: str
) -> None:
    with pytest.raises(KlocError, match=words):
        run("prcl", *argv, "--dry-run", program=program)


def test_a_dry_run_needs_damon_as_the_tuning_does(fake: fake_damon.FakeDamon) -> None:
    fake.start_others()
    with pytest.raises(KlocError, match="DAMON is in use"):
        run("prcl", "--samples", "3", "--dry-run", program=["true"])
    assert not fake.written
