# SPDX-License-Identifier: GPL-2.0
"""`kloc shell`: the machine that it starts."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import shell
from kloc.machine import guest_commands
from kloc.machine.job import Job, Terminal
from support.command import run


def test_shell_has_policy_packages_and_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs: list[Job] = []

    def launch(job: Job, *_: Any) -> None:
        jobs.append(job)

    terminal.stderr.cache_clear()
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{name}.isatty", lambda: True, raising=False)
    for name, value in {"TERM": "xterm", "COLUMNS": "100", "LINES": "30"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(shell, "prepare_parts", lambda _: None)
    monkeypatch.setattr(shell.launcher, "run", launch)
    assert run("shell", "--packages", "fio", "--copy", "/bin/sh") == 0
    (job,) = jobs
    assert job.shell and job.commands
    assert job.terminal == Terminal("xterm", 30, 100)
    assert job.packages == ("fio", *guest_commands.PACKAGES)
    assert job.settings["/sys/kernel/mm/tiering/policy"] == "kloc"
    assert "policy kloc" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["stdin", "stdout"])
def test_shell_without_a_terminal_is_refused_before_anything_is_built(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "prepare_parts", lambda _: pytest.fail("built"))
    for name in ("stdin", "stdout"):
        is_terminal = name != missing
        monkeypatch.setattr(f"sys.{name}.isatty", lambda found=is_terminal: found, raising=False)
    with pytest.raises(KlocError, match="needs a terminal") as error:
        run("shell")
    assert "kloc run" in (error.value.hint or "")


@pytest.mark.parametrize(
    ("kind", "columns"), [("xterm", "0"), ("", "80"), ("x; reboot", "80"), ("../etc", "80")]
)
def test_unknown_terminal_is_left_to_the_machine(
    kind: str, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TERM": kind, "COLUMNS": columns, "LINES": "30"}.items():
        monkeypatch.setenv(name, value)
    assert shell._terminal() is None


def test_dry_run_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("shell", "--policy", "tpp", "--machine", "cxl", "--dry-run") == 0
    assert capsys.readouterr().out == "a shell under tpp, machine cxl, packages: none\n"


def test_a_package_without_a_name_of_debians_is_refused_in_a_dry_run_too() -> None:
    with pytest.raises(KlocError, match="not a valid name of a Debian package"):
        run("shell", "--packages", "../../etc", "--dry-run")


def test_a_policy_that_follows_from_a_run_is_refused() -> None:
    with pytest.raises(KlocError, match="another policy"):
        run("shell", "--policy", "oracle")
