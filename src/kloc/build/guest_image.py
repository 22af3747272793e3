# SPDX-License-Identifier: GPL-2.0
"""Makes the disk image that the guest boots from: a small Debian with the files of machine/guest.

The image is the same to the byte wherever it is made from the same package versions.
"""

import json
import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kloc.base import cache, paths, progress
from kloc.base.errors import KlocError
from kloc.build import apt_sources, bootstrap, pins, root
from kloc.build.ext4 import make_ext4

FILES = paths.shipped("machine", "guest")
"""The project's own files in the guest, at /kloc."""

BASE_PACKAGES = ("iproute2", "mawk", "mount", "numactl", "procps")
"""Packages of every guest, in addition to Debian's essential packages."""

IMAGE_FORMAT = "3"
"""Part of the cache key: change it when images are made differently, so that old ones go unused."""

LEFT_OUT = re.compile(
    r"\./(dev|etc/apt|etc/dpkg/dpkg.cfg.d|var/cache|var/log|var/lib/apt|var/lib/dpkg/info)/."
    r"|\./etc/(hostname|resolv\.conf|machine-id)$"
    r"|\./var/lib/dpkg/.*-old$"
)
"""Files that the guest does not need, that differ each time a root is made, or that are the host's.

mmdebstrap copies the host's name and resolv.conf into a root, and names the host's mirror in
etc/apt.
"""


@dataclass(frozen=True)
class GuestImage:
    """An ext4 image (its size a power of two) and the versions of the packages in it."""

    path: Path
    size_bytes: int
    versions: dict[str, str]


def guest_image(packages: Sequence[str] = ()) -> GuestImage:
    """Return the guest's image with `packages`, made on first use.

    Raises KlocError if Debian does not have one of the packages.
    """
    names = sorted({*BASE_PACKAGES, *map(checked_name, packages)})
    debian_key = cache.key(apt_sources.SUITE, *names, pins.FILE)
    debian = cache.build("guest-debian", debian_key, lambda draft: _bootstrap(names, draft))
    image_key = cache.key(IMAGE_FORMAT, debian_key, FILES)
    entry = cache.build("guest", image_key, lambda draft: _make_image(debian, draft / "root.img"))
    path = entry / "root.img"
    versions: dict[str, str] = json.loads((debian / "versions.json").read_text())
    return GuestImage(path, path.stat().st_size, versions)


def checked_name(package: str) -> str:
    """Return the name of a package. Raises KlocError if Debian could not have it."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", package):
        raise KlocError(
            f"'{package}' is not a valid name of a Debian package",
            hint="names have lower-case letters, digits, '+', '-' and '.'",
        )
    return package


def _bootstrap(names: Sequence[str], draft: Path) -> None:
    tar = draft / "root.tar"
    what = f"a guest with {', '.join(names)}"
    bootstrap.bootstrap(what, names, tar, seconds=30, pinned=True)
    versions = installed(tar)
    (draft / "versions.json").write_text(json.dumps(versions, indent=1))
    pins.report(what, versions)


def installed(tar: Path) -> dict[str, str]:
    """Return the version of each package in the root that `tar` holds."""
    with tarfile.open(tar) as tree:
        status = tree.extractfile("./var/lib/dpkg/status")
        assert status is not None
        return package_versions(status.read().decode())


def package_versions(status: str) -> dict[str, str]:
    """Return the version of each package in the text of dpkg's `status` file, in its order."""
    # Imported here: `kloc doctor` runs without the packages for measuring.
    from debian.deb822 import Deb822

    packages = Deb822.iter_paragraphs(status.splitlines())
    return {package["Package"]: package["Version"] for package in packages}


def _make_image(debian: Path, image: Path) -> None:
    tools = root.tool_root()
    tar = image.with_suffix(".tar")
    with progress.estimated("making the guest's disk image", seconds=5):
        with tarfile.open(debian / "root.tar") as debian_tar, tarfile.open(tar, "w") as out:
            for member, content in _image_members(debian_tar):
                out.addfile(member, content)
            out.add(FILES, "./kloc", filter=with_git_mode)
        make_ext4(tools, tar, image)
    tar.unlink()


def _image_members(source: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Yield the members of `source` that go into an image, sorted by name, parents first."""
    for member in sorted(source.getmembers(), key=lambda member: member.name):
        if not LEFT_OUT.match(member.name):
            member.mtime = bootstrap.EPOCH
            member.pax_headers = {}
            yield member, source.extractfile(member) if member.isreg() else None


def normalized(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Make root the owner of `member` and EPOCH its time, and return it."""
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mtime = bootstrap.EPOCH
    return member


def with_git_mode(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Give `member` the mode that git would record, whatever the umask was, and normalize it.

    That is 0755 for directories and for files that their owner may execute, 0644 for others.
    """
    executable = member.isdir() or member.mode & 0o100
    member.mode = 0o755 if executable else 0o644
    return normalized(member)
