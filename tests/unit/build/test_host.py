# SPDX-License-Identifier: GPL-2.0
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.build import apt_sources, bootstrap, host

ONE_LINE = """\
# deb http://comment.example/debian bookworm main
deb cdrom:[Debian]/ bookworm main
deb [signed-by=/usr/share/key.gpg] http://other.example/apt stable main
deb http://mirror.example/debian bookworm main contrib # near
deb http://security.example/debian-security bookworm-security main
"""

DEB822 = """\
Types: deb deb-src
# a comment between
URIs: https://mirror.example/debian
Suites: trixie trixie-updates
Components: main

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: trixie-security
Components: main
"""


UBUNTU = """\
Types: deb
URIs: http://archive.ubuntu.com/ubuntu/
Suites: noble noble-updates noble-security
Components: main restricted
"""


def configure(
    monkeypatch: pytest.MonkeyPatch, etc: Path, codename: str, system: str = "debian"
) -> None:
    real = apt_sources._sources
    release = {"ID": system, "VERSION_CODENAME": codename}
    monkeypatch.setattr(apt_sources, "_sources", lambda _: real(etc))
    monkeypatch.setattr(host, "os_release", lambda: release)
    (etc / "sources.list.d").mkdir()


def test_the_mirror_of_one_line_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configure(monkeypatch, tmp_path, "bookworm")
    (tmp_path / "sources.list.d" / "debian.list").write_text(ONE_LINE)
    assert apt_sources.apt_lines() == [
        "deb http://mirror.example/debian trixie main",
        "deb http://mirror.example/debian trixie-updates main",
        "deb http://security.example/debian-security trixie-security main",
    ]


def test_the_mirror_of_deb822_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configure(monkeypatch, tmp_path, "trixie")
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    lines = apt_sources.apt_lines()
    assert lines[0] == "deb https://mirror.example/debian trixie main"
    assert lines[2] == f"deb {apt_sources.DEFAULT_SECURITY_MIRROR} trixie-security main"


def test_no_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configure(monkeypatch, tmp_path, "")
    assert apt_sources.apt_lines()[0] == f"deb {apt_sources.DEFAULT_MIRROR} trixie main"


def test_the_mirror_of_another_system_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(monkeypatch, tmp_path, "noble", system="ubuntu")
    (tmp_path / "sources.list.d" / "ubuntu.sources").write_text(UBUNTU)
    assert apt_sources.apt_lines() == [
        f"deb {apt_sources.DEFAULT_MIRROR} trixie main",
        f"deb {apt_sources.DEFAULT_MIRROR} trixie-updates main",
        f"deb {apt_sources.DEFAULT_SECURITY_MIRROR} trixie-security main",
    ]


def test_without_dpkg_it_is_programs_and_files_that_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = {"mmdebstrap", "newuidmap", "mount"}
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(host, "KEYRINGS", tmp_path)
    assert host.missing() == ["debian-archive-keyring"]
    (tmp_path / "debian-archive-keyring.gpg").touch()
    assert host.missing() == []
    there.remove("newuidmap")
    assert host.missing() == ["uidmap"]


@pytest.fixture
def bare_host(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A Debian without mmdebstrap, on which nobody is root; the commands that are run there."""
    commands: list[list[str]] = []

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(argv)
        return subprocess.CompletedProcess(argv, 0, "", "")

    monkeypatch.setattr(host, "missing", lambda: ["mmdebstrap"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_what_is_missing_is_installed_through_sudo(
    monkeypatch: pytest.MonkeyPatch, bare_host: list[list[str]]
) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    host.install_missing()
    assert bare_host == [
        ["sudo", "apt-get", "update"],
        ["sudo", "apt-get", "install", "--yes", "--no-install-recommends", "mmdebstrap"],
    ]


def test_without_a_terminal_nothing_is_installed(
    monkeypatch: pytest.MonkeyPatch, bare_host: list[list[str]]
) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(KlocError) as error:
        host.install_missing()
    assert "mmdebstrap" in error.value.message
    assert "--yes" in (error.value.hint or "")
    assert not bare_host


def test_not_debian(monkeypatch: pytest.MonkeyPatch, bare_host: list[list[str]]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(host, "description", lambda: "Plan 9")
    with pytest.raises(KlocError, match="this is Plan 9, not Debian"):
        host.install_missing()


def test_a_package_that_is_not_there() -> None:
    error = bootstrap._bootstrap_error("a guest", "E: Unable to locate package redsi\nE: more")
    assert error.message == "Debian 13 has no package redsi"
