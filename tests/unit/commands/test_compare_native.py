# SPDX-License-Identifier: GPL-2.0
"""`kloc compare --native`: what is refused, and what --dry-run lists."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.native import comparison
from kloc.native.comparison import Interrupted, Stopped
from kloc.server import system
from support import made_up_native, made_up_tiers
from support.command import run


@pytest.fixture(autouse=True)
def wide_console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    terminal.stdout.cache_clear()
    terminal.stderr.cache_clear()


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of a made-up server, on which the user is root."""
    monkeypatch.setattr(system, "ROOT", made_up_tiers.make(tmp_path / "root"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path / "root"


def native(*argv: str) -> int:
    return run("compare", "--native", *argv)


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        ((), "no workload and no program"),
        (("redis", "--", "true"), "both a workload and a program"),
        (("--",), "no command after"),
        (("result.json",), "result.json is a result file"),
        (("redis", "--setup", "x"), "--setup: this is for a program of your own"),
        (("redis", "--warm-up", "2"), "--warm-up: this is for a program of your own"),
        (("--load", "2", "--", "true"), "--load: this is for workloads"),
        (("--seconds", "2", "--", "true"), "--seconds: this is for workloads"),
        (("--policies", "tpp", "--", "true"), "only one policy, tpp"),
        (("--policies", "tpp,tp", "--", "true"), "unknown policy 'tp', did you mean 'tpp'"),
        (("--against", "naive", "--", "true"), "--against naive: this policy is not among"),
        (("rediss",), "unknown workload 'rediss', did you mean 'redis'"),
    ],
)
def test_wrong_command_lines_are_refused(argv: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        native(*argv)


@pytest.mark.parametrize("policy", ["all-slow", "all-fast", "oracle"])
def test_what_only_the_machine_can_do_is_refused_with_the_reason(policy: str) -> None:
    with pytest.raises(KlocError, match=f"cannot have the policy {policy}: it changes the timing"):
        native("--policies", f"tpp,{policy}", "--", "true")


def test_workloads_that_cannot_be_measured_natively_say_why() -> None:
    with pytest.raises(KlocError, match=r"filebench on a server: it changes vm\.dirty") as error:
        native("filebench")
    assert "redis" in str(error.value.hint)
    with pytest.raises(KlocError, match="nobody has tried it there"):
        native("rocksdb")


def test_a_policy_that_the_kernel_lacks_is_refused_if_it_was_asked_for(server: Path) -> None:
    (server / "sys/kernel/mm/tiering/policies").write_text("none naive\n")
    with pytest.raises(KlocError, match="has no policy kloc"):
        native("--policies", "tpp,kloc", "--", "true")


def test_a_default_policy_that_the_kernel_lacks_is_named_and_left_out(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (server / "sys/kernel/mm/tiering/policies").write_text("none naive\n")
    assert native("--rounds", "1", "--dry-run", "--", "true") == 0
    printed = capsys.readouterr()
    assert "kloc is left out: this kernel" in printed.err and "has no policy kloc" in printed.err
    assert "under kloc" not in printed.out and "under tpp" in printed.out


def test_dry_run_lists_runs_settings_and_time_and_changes_nothing(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = made_up_tiers.settings(server)
    assert native("gups", "--rounds", "2", "--policies", "tpp,stock", "--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line for line in lines if line.startswith("round 1")) == [
        "round 1: gups under stock",
        "round 1: gups under tpp",
    ]
    assert "  /proc/sys/kernel/numa_balancing 2" in lines[lines.index("tpp sets:") :]
    # 3 s of waiting, 10 s that are measured, and a warm-up of 1.5 times as long.
    assert lines[-1].startswith("4 runs: 1.9 min or more")
    assert made_up_tiers.settings(server) == before
    assert not (server / "run/kloc/server.json").exists()


def test_users_who_are_not_root_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(KlocError, match="only root may set policies"):
        native("--", "true")


def test_the_word_may_not_be_abbreviated() -> None:
    with pytest.raises(UsageError, match="--native is abbreviated"):
        run("compare", "--nati", "redis")


@pytest.mark.parametrize("end", [Stopped("round 2", KlocError("failed"), []), Interrupted([])])
def test_finished_runs_are_delivered_when_the_rest_fails(
    end: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end.runs = made_up_native.document()["runs"][:3]

    def measure(*_: Any) -> None:
        raise end

    monkeypatch.setattr(comparison, "measure", measure)
    file = tmp_path / "result.json"
    with pytest.raises(type(end)):
        native("--json", str(file), "--", "bench.sh")
    assert len(json.loads(file.read_text())["runs"]) == 3
    assert "bench.sh  0.80  one round: cannot tell" in capsys.readouterr().out


def test_results_are_shown_again_by_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "native.json"
    file.write_text(json.dumps(made_up_native.document()))
    assert run("compare", str(file), "--against", "stock") == 0
    assert "tpp against stock, round by round:" in capsys.readouterr().out


def test_setup_that_cannot_be_read_is_named() -> None:
    with pytest.raises(KlocError, match="--setup /no/such cannot be read"):
        native("--setup", "/no/such", "--", "true")
