# SPDX-License-Identifier: GPL-2.0
"""`kloc shell`: the machine that it starts."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import shell
from kloc.machine import guest_commands
from kloc.machine.job import Job
from support.command import run


def test_shell_has_policy_packages_and_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs: list[Job] = []

    def launch(job: Job, *_: Any) -> None:
        jobs.append(job)

    terminal.stderr.cache_clear()
    monkeypatch.setattr(shell, "prepare_parts", lambda _: None)
    monkeypatch.setattr(shell.launcher, "run", launch)
    assert run("shell", "--packages", "fio", "--copy", "/bin/sh") == 0
    (job,) = jobs
    assert job.shell and job.commands
    assert job.packages == ("fio", *guest_commands.PACKAGES)
    assert job.settings["/sys/kernel/mm/tiering/policy"] == "kloc"
    assert "policy kloc" in capsys.readouterr().err


def test_dry_run_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("shell", "--policy", "tpp", "--machine", "cxl", "--dry-run") == 0
    assert capsys.readouterr().out == "a shell under tpp, machine cxl, packages: none\n"


def test_a_policy_that_follows_from_a_run_is_refused() -> None:
    with pytest.raises(KlocError, match="another policy"):
        run("shell", "--policy", "oracle")
