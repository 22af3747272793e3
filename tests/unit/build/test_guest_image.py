# SPDX-License-Identifier: GPL-2.0
"""The packages of the guest, their names and versions."""

import io
import tarfile
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import bootstrap, guest_image

STATUS = """\
Package: zlib1g
Status: install ok installed
Version: 1:1.3.dfsg+really1.3.1-1+b1
Description: compression library - runtime
 Package: not a field of its own
 .
 Version: nor this

Package: adduser
Multi-Arch: foreign
Version: 3.152
"""


def test_versions_are_in_the_order_of_dpkgs_database() -> None:
    versions = guest_image.package_versions(STATUS)
    assert list(versions.items()) == [
        ("zlib1g", "1:1.3.dfsg+really1.3.1-1+b1"),
        ("adduser", "3.152"),
    ]


def test_the_image_has_no_file_of_the_host(tmp_path: Path) -> None:
    names = [
        "./etc/hostname",
        "./etc/hostname.d",
        "./etc/resolv.conf",
        "./etc/apt/sources.list",
        "./etc/passwd",
        "./var/lib/dpkg/status",
        "./var/lib/dpkg/status-old",
        "./var/log/apt/history.log",
    ]
    with tarfile.open(tmp_path / "root.tar", "w") as archive:
        for name in reversed(names):
            archive.addfile(tarfile.TarInfo(name))
    with tarfile.open(tmp_path / "root.tar") as archive:
        members = [member for member, _ in guest_image._image_members(archive)]
    assert [member.name for member in members] == [
        "./etc/hostname.d",
        "./etc/passwd",
        "./var/lib/dpkg/status",
    ]
    assert {member.mtime for member in members} == {bootstrap.EPOCH}


@pytest.mark.parametrize("name", ["Bad Name", "--option", "x", ""])
def test_invalid_package_name_is_an_error(name: str) -> None:
    with pytest.raises(KlocError, match="Debian package"):
        guest_image.guest_image([name])


def test_image_has_nothing_of_the_host(tmp_path: Path) -> None:
    """mmdebstrap copies these into a root."""
    tar = tmp_path / "root.tar"
    with tarfile.open(tar, "w") as root:
        for name in ("hostname", "resolv.conf", "apt/sources.list", "machine-id", "hosts"):
            root.addfile(tarfile.TarInfo(f"./etc/{name}"), io.BytesIO())
    with tarfile.open(tar) as root:
        names = [member.name for member, _ in guest_image._image_members(root)]
    assert names == ["./etc/hosts"]
