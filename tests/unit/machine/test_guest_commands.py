# SPDX-License-Identifier: GPL-2.0
"""kloc's own commands in the machine: there if they are asked for, and nothing of them if not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kloc import cli
from kloc.base import terminal
from kloc.machine import guest_commands, job, launcher
from kloc.machine.job import Job


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """What would have been run."""
    started: list[Job] = []

    def run(job: Job, *_: Any) -> None:
        started.append(job)
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "prepare", lambda *_: None)
    monkeypatch.setattr(launcher, "run", run)
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    terminal.stderr.cache_clear()
    return started


@pytest.mark.parametrize(
    ("argv", "has"),
    [
        (["run", "--", "true"], False),
        (["run", "--", "sh", "-c", "kloc status"], False),
        (["run", "--with-kloc", "--", "sh", "-c", "kloc status"], True),
        (["run", "--", "kloc", "status"], True),
        (["shell"], True),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_they_are_there_if_they_are_asked_for(argv: list[str], has: bool, jobs: list[Job]) -> None:
    cli.main(argv)
    (job,) = jobs
    assert job.commands == has
    assert job.packages == (guest_commands.PACKAGES if has else ())


def test_they_do_not_go_with_workloads(capsys: pytest.CaptureFixture[str], jobs: list[Job]) -> None:
    assert cli.main(["run", "redis", "--with-kloc"]) == cli.USAGE
    assert "--with-kloc: this is for a program of your own" in capsys.readouterr().err
    assert not jobs


def test_they_need_no_packages_of_python_but_rich(tmp_path: Path) -> None:
    files = guest_commands.write_files(tmp_path)
    package = files["/kloc/src/kloc"]
    assert not list(package.rglob("__pycache__"))
    assert os.access(files["/usr/local/bin/kloc"], os.X_OK)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "kloc").symlink_to(package)
    # Without site-packages there is nothing but Python itself.
    done = subprocess.run(
        [sys.executable, "-S", "-m", "kloc", "status", "--help"],
        env={"PYTHONPATH": str(tmp_path / "src"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "kloc status" in done.stdout
