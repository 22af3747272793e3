# SPDX-License-Identifier: GPL-2.0
"""`kloc kernel`: its actions, without building anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.base.errors import UsageError
from kloc.build import pins
from kloc.build.kernel import Kernel
from kloc.build.kernel_package import Packages, Version
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


VERSION = Version("6.12.118-1", "amd64", "0123456789abcdef0123", 1795862243)


@pytest.fixture
def packaged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    """The flavours that would have been packaged, with their directories."""
    built: list[tuple[str, Path]] = []

    def build(flavour: str, directory: Path) -> Packages:
        built.append((flavour, directory))
        return Packages(VERSION, directory / "image.deb", directory / "headers.deb")

    monkeypatch.setattr(command.kernel_package, "build", build)
    return built


def test_packages_are_printed_with_how_to_install_them(
    packaged: list[tuple[str, Path]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("kernel", "package") == 0
    assert run("kernel", "package", "out", "--flavour", "amd64") == 0
    assert packaged == [("cloud-amd64", tmp_path), ("amd64", tmp_path / "out")]
    printed = capsys.readouterr()
    assert printed.out.splitlines()[:2] == [f"{tmp_path}/image.deb", f"{tmp_path}/headers.deb"]
    said = " ".join(printed.err.split())
    assert f"apt install {tmp_path}/out/image.deb {tmp_path}/out/headers.deb" in said
    assert "Secure Boot" in said


def test_json_names_the_packages_and_their_kernel(
    packaged: list[tuple[str, Path]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("kernel", "package", str(tmp_path), "--json")
    assert json.loads(capsys.readouterr().out) == {
        "image": f"{tmp_path}/image.deb",
        "headers": f"{tmp_path}/headers.deb",
        "release": "6.12.118-kloc20261128.01234567-amd64",
        "version": "6.12.118-1+kloc20261128.01234567",
        "debian": "6.12.118-1",
        "flavour": "amd64",
        "series": "0123456789abcdef0123",
    }


def test_dry_run_names_the_packages_that_would_be_written(
    packaged: list[tuple[str, Path]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = (tmp_path / "new" / name for name in VERSION.files)
    planned = Packages(VERSION, *files)
    monkeypatch.setattr(command.kernel_package, "planned", lambda *_: planned)
    argv = ["kernel", "package", f"{tmp_path}/new", "--dry-run"]
    assert run(*argv) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["would write", str(planned.image), str(planned.headers)]
    run(*argv, "--json")
    assert json.loads(capsys.readouterr().out) == planned.described()
    assert not packaged and not (tmp_path / "new").exists()


def test_dry_run_without_debians_configuration_names_what_is_known(
    packaged: list[tuple[str, Path]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command.kernel_package, "planned", lambda *_: None)
    argv = ["kernel", "package", f"{tmp_path}/new", "--dry-run"]
    assert run(*argv) == 0
    printed = capsys.readouterr().out
    assert f"{tmp_path}/new" in printed and "cloud-amd64" in printed
    assert f"Linux {pins.read()['linux-source-6.12']} " in printed
    run(*argv, "--json")
    content = json.loads(capsys.readouterr().out)
    described = Packages(VERSION, tmp_path, tmp_path).described()
    assert list(content) == list(described)
    assert (content["image"], content["flavour"]) == (None, "cloud-amd64")
    assert not packaged and not (tmp_path / "new").exists()


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
        (["package", "--variant", "debug"], "--variant is an option of kernel build"),
        (["build", "--flavour", "amd64"], "--flavour is an option of kernel package"),
        (["checkout", "linux", "--variant", "debug"], "--variant"),
    ],
    ids=" ".join,
)
def test_wrong_combinations_are_refused(argv: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run("kernel", *argv)
