# SPDX-License-Identifier: GPL-2.0
"""The packages that kloc needs on the host: found, or installed after a question."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.build import host


def test_without_dpkg_programs_and_files_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = {"mmdebstrap", "newuidmap", "mount"}
    monkeypatch.setattr(shutil, "which", lambda name: name if name in programs else None)
    monkeypatch.setattr(host, "KEYRINGS", tmp_path)
    assert host.missing() == ["debian-archive-keyring"]
    (tmp_path / "debian-archive-keyring.gpg").touch()
    assert host.missing() == []
    programs.remove("newuidmap")
    assert host.missing() == ["uidmap"]


def test_with_dpkg_its_database_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        state = {"uidmap": "config-files"}.get(argv[-1], "installed")
        return subprocess.CompletedProcess(argv, 0, state, "")

    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(subprocess, "run", run)
    assert host.missing() == ["uidmap"]


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that run on a Debian without mmdebstrap, where kloc does not run as root."""
    commands: list[list[str]] = []

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(argv)
        return subprocess.CompletedProcess(argv, 0, "", "")

    monkeypatch.setattr(host, "missing", lambda: ["mmdebstrap"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_missing_packages_are_installed_through_sudo(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    host.install_missing()
    assert commands == [
        ["sudo", "apt-get", "update"],
        ["sudo", "apt-get", "install", "--yes", "--no-install-recommends", "mmdebstrap"],
    ]


def test_nothing_is_installed_if_nothing_is_missing(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    monkeypatch.setattr(host, "missing", list)
    host.install_missing()
    assert not commands


def test_nothing_is_installed_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(KlocError, match="mmdebstrap") as error:
        host.install_missing()
    assert "--yes" in (error.value.hint or "")
    assert not commands


def test_nothing_is_installed_if_the_user_declines(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    monkeypatch.setattr(terminal, "ask", lambda question, unattended: False)
    with pytest.raises(KlocError, match="mmdebstrap") as error:
        host.install_missing()
    assert "apt-get install" in (error.value.hint or "")
    assert not commands


def test_apt_that_fails_is_quoted(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, 100, "E: no network\n", "")

    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(KlocError, match="E: no network"):
        host.install_missing()


def test_system_without_apt_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(host, "description", lambda: "Plan 9")
    with pytest.raises(KlocError, match="Plan 9, not Debian"):
        host.install_missing()


def test_os_release_is_read_with_and_without_quotes(tmp_path: Path) -> None:
    assert host.os_release(tmp_path) == {}
    (tmp_path / "os-release").write_text('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12"\n# no\n')
    assert host.os_release(tmp_path) == {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 12"}
