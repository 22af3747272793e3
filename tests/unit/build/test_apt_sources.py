# SPDX-License-Identifier: GPL-2.0
"""The Debian mirror that the host's apt uses, in both formats of its configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.build.apt_sources import (
    DEFAULT_MIRROR,
    DEFAULT_SECURITY_MIRROR,
    apt_lines,
    source_lines,
)

ONE_LINE = """\
# deb http://comment.example/debian bookworm main
deb cdrom:[Debian]/ bookworm main
deb [signed-by=/usr/share/key.gpg] http://other.example/apt stable main
deb http://mirror.example/debian bookworm main contrib # nearby
deb http://security.example/debian-security bookworm-security main
"""

DEB822 = """\
Types: deb deb-src
# a comment within a stanza
URIs: https://mirror.example/debian
Suites: trixie trixie-updates
Components: main

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: trixie-security
Components: main
"""

DEB822_FOLDED = """\
# a comment before the first stanza

Types: deb-src
URIs: http://source.example/debian
Suites: trixie
Components: main


# a comment between two stanzas

Types: deb
URIs: http://mirror.example/debian
 http://second.example/debian
Suites:
 trixie
 trixie-updates
 trixie-security
Components: non-free
 main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBGPL0BUBEADmW5NdOOHwPIJlgPu6JDcK
 -----END PGP PUBLIC KEY BLOCK-----"""

UBUNTU = """\
Types: deb
URIs: http://archive.ubuntu.com/ubuntu/
Suites: noble noble-updates noble-security
Components: main restricted
"""


def make_etc(etc: Path, codename: str, system: str = "debian", **sources: str) -> Path:
    """Write an /etc with an os-release and files of `sources.list.d`, by their suffix."""
    (etc / "os-release").write_text(f"ID={system}\nVERSION_CODENAME={codename}\n")
    directory = etc / "apt" / "sources.list.d"
    directory.mkdir(parents=True)
    for suffix, text in sources.items():
        (directory / f"{system}.{suffix}").write_text(text)
    return etc


def lines(mirror: str, security: str) -> list[str]:
    return [
        f"deb {mirror} trixie main",
        f"deb {mirror} trixie-updates main",
        f"deb {security} trixie-security main",
    ]


def test_mirror_is_read_from_one_line_sources(tmp_path: Path) -> None:
    etc = make_etc(tmp_path, "bookworm", list=ONE_LINE)
    security = "http://security.example/debian-security"
    assert apt_lines(etc) == lines("http://mirror.example/debian", security)


def test_mirror_is_read_from_deb822_sources(tmp_path: Path) -> None:
    etc = make_etc(tmp_path, "trixie", sources=DEB822)
    assert apt_lines(etc) == lines("https://mirror.example/debian", DEFAULT_SECURITY_MIRROR)


def test_mirror_is_read_from_folded_fields(tmp_path: Path) -> None:
    etc = make_etc(tmp_path, "trixie", sources=DEB822_FOLDED)
    mirror = "http://mirror.example/debian"
    assert apt_lines(etc) == lines(mirror, mirror)


@pytest.mark.parametrize("text", ["", "\n\n", "# Moved to debian.sources\n"])
def test_configuration_without_sources_gives_the_default_mirrors(tmp_path: Path, text: str) -> None:
    etc = make_etc(tmp_path, "trixie", sources=text, list=text)
    (etc / "apt" / "sources.list").write_text(text)
    assert apt_lines(etc) == lines(DEFAULT_MIRROR, DEFAULT_SECURITY_MIRROR)


def test_etc_without_files_gives_the_default_mirrors(tmp_path: Path) -> None:
    assert apt_lines(tmp_path) == lines(DEFAULT_MIRROR, DEFAULT_SECURITY_MIRROR)


def test_mirror_of_another_system_is_not_used(tmp_path: Path) -> None:
    etc = make_etc(tmp_path, "noble", system="ubuntu", sources=UBUNTU)
    assert apt_lines(etc) == lines(DEFAULT_MIRROR, DEFAULT_SECURITY_MIRROR)


def test_source_packages_come_from_the_same_mirrors(tmp_path: Path) -> None:
    etc = make_etc(tmp_path, "trixie", sources=DEB822)
    binary = [line.split() for line in apt_lines(etc)]
    source = [line.split() for line in source_lines(etc)]
    assert [line[0] for line in source] == ["deb-src"] * len(binary)
    assert [line[1:] for line in source] == [line[1:] for line in binary]
