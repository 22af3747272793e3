# SPDX-License-Identifier: GPL-2.0
"""The installation of Python packages from pyproject.toml."""

import subprocess
import sys
from pathlib import Path

import pytest

from kloc.base import environment


@pytest.fixture(autouse=True)
def prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment of kloc's own, without optional dependencies."""
    (tmp_path / "ready").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def replace_pip(monkeypatch: pytest.MonkeyPatch, status: int, output: str = "") -> list[list[str]]:
    """Replace pip by one that ends with `status`; return the list of its calls."""
    calls: list[list[str]] = []

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(argv)
        return subprocess.CompletedProcess(argv, status, output)

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_installed_extra_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = replace_pip(monkeypatch, status=0)
    assert not environment.has("dev")
    assert environment.install("dev") == ""
    assert environment.has("dev")
    (argv,) = calls
    assert any(argument.startswith("pytest==") for argument in argv)


def test_environment_without_extras_is_installed_first(
    monkeypatch: pytest.MonkeyPatch, prefix: Path
) -> None:
    (prefix / "ready").unlink()
    calls = replace_pip(monkeypatch, status=0)
    assert environment.install() == ""
    (argv,) = calls
    assert (prefix / "ready").exists()
    assert any(argument.startswith("rich==") for argument in argv)


def test_failure_returns_the_last_lines_and_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replace_pip(monkeypatch, status=1, output="".join(f"line {number}\n" for number in range(100)))
    output = environment.install("dev").splitlines()
    assert output[-1] == "line 99"
    assert len(output) == environment.LAST_LINES
    assert not environment.has("dev")
