# SPDX-License-Identifier: GPL-2.0
"""`kloc kernel`: its actions, without building anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.base.errors import UsageError
from kloc.build.kernel import Kernel
from kloc.commands import kernel as command
from support.command import run

BUILT = Kernel(Path("/k/bzImage"), Path("/k/vmlinux"), Path("/k/config"), "6.12.1-kloc", "abc")


@pytest.fixture
def variants(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The variants that would have been built."""
    built: list[str] = []

    def build(variant: str) -> Kernel:
        built.append(variant)
        return BUILT

    monkeypatch.setattr(command.kernel, "build", build)
    return built


def test_built_kernel_is_printed(variants: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("kernel", "build") == 0
    assert run("kernel", "build", "--variant", "debug") == 0
    assert variants == ["machine", "debug"]
    first = capsys.readouterr().out.splitlines()[0]
    assert all(part in first for part in ("/k/bzImage", "6.12.1-kloc", "abc"))


def test_json_has_paths_release_and_series(
    variants: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("kernel", "build", "--json")
    content = json.loads(capsys.readouterr().out)
    assert content == {
        "bzimage": "/k/bzImage",
        "vmlinux": "/k/vmlinux",
        "config": "/k/config",
        "release": "6.12.1-kloc",
        "series": "abc",
    }
    run("kernel", "build", "--json", f"{tmp_path}/k.json")
    assert json.loads((tmp_path / "k.json").read_text()) == content
    assert "bzImage" in capsys.readouterr().out


@pytest.mark.parametrize("action", ["checkout", "export"])
def test_directory_is_made_absolute(
    action: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    directories: list[Path] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command.kernel_git, action, directories.append)
    assert run("kernel", action, "linux") == 0
    assert directories == [tmp_path / "linux"]


@pytest.mark.parametrize("argv", [["build"], ["checkout", "linux"], ["export", "linux"]])
def test_dry_run_does_nothing(
    argv: list[str], variants: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("kernel", *argv, "--dry-run") == 0
    assert capsys.readouterr().out.startswith("would ")
    assert not variants


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["build", "linux"], "build takes no directory"),
        (["checkout"], "checkout needs a directory"),
        (["export"], "export needs a directory"),
        (["export", "linux", "--json", "-"], "--json"),
    ],
    ids=" ".join,
)
def test_wrong_combinations_are_refused(argv: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run("kernel", *argv)
