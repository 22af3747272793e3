# SPDX-License-Identifier: GPL-2.0
"""Disk images for the machine: the Debian that it runs, and the files of one job."""

import json
import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kloc.base import cache, progress
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build import apt_sources, bootstrap, root
from kloc.build.ext4 import make_ext4

FILES = PROJECT / "machine" / "guest"
"""What the project puts into the guest, as /kloc."""

BASE_PACKAGES = ("iproute2", "mawk", "mount", "numactl", "procps")
"""What every guest has beside Debian's essential packages."""
IMAGE_FORMAT = "1"
"""To be changed when images are made in another way, so that old ones are not used."""

LEFT_OUT = re.compile(r"\./(dev|var/cache|var/log|var/lib/apt|var/lib/dpkg/info)/.")
"""What an image needs not, or what differs from one time to the next."""


@dataclass(frozen=True)
class GuestImage:
    """An ext4 image (its size a power of two) and the versions of the packages in it."""

    path: Path
    size_bytes: int
    versions: dict[str, str]


def guest_image(packages: Sequence[str] = ()) -> GuestImage:
    """Return the image of a small Debian with `packages` and the files of machine/guest.

    It is the same, bit for bit, wherever it is made from the same versions. A package that Debian
    does not have: KlocError.
    """
    names = sorted({*BASE_PACKAGES, *map(_checked, packages)})
    debian_key = cache.key(apt_sources.SUITE, *names)
    tree = cache.build("guest-debian", debian_key, lambda draft: _bootstrap(names, draft))
    image_key = cache.key(IMAGE_FORMAT, debian_key, FILES)
    made = cache.build("guest", image_key, lambda draft: _guest(tree, draft / "root.img"))
    path = made / "root.img"
    versions: dict[str, str] = json.loads((tree / "versions.json").read_text())
    return GuestImage(path, path.stat().st_size, versions)


def _checked(package: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", package):
        raise KlocError(f"'{package}' cannot be the name of a Debian package")
    return package


def _bootstrap(names: Sequence[str], draft: Path) -> None:
    tar = draft / "root.tar"
    bootstrap.bootstrap(f"a guest with {', '.join(names)}", names, tar, seconds=30)
    with tarfile.open(tar) as tree:
        status = tree.extractfile("./var/lib/dpkg/status")
        assert status is not None
        versions = _package_versions(status.read().decode())
    (draft / "versions.json").write_text(json.dumps(versions, indent=1))


def _package_versions(status: str) -> dict[str, str]:
    fields = re.findall(r"^(Package|Version): (.*)$", status, re.MULTILINE)
    names = [value for name, value in fields if name == "Package"]
    versions = [value for name, value in fields if name == "Version"]
    return dict(zip(names, versions, strict=True))


def _guest(tree: Path, image: Path) -> None:
    tools = root.tool_root()
    tar = image.with_suffix(".tar")
    with progress.estimated("putting the guest's image together", seconds=5):
        with tarfile.open(tree / "root.tar") as debian_tar, tarfile.open(tar, "w") as out:
            for member, content in _members(debian_tar):
                out.addfile(member, content)
            out.add(FILES, "./kloc", filter=_ours)
        make_ext4(tools, tar, image)
    tar.unlink()


def _members(source: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Yield what of `source` goes into an image, in the order of names, parents first."""
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


def _ours(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Give a file of the checkout the mode that git knows, whatever the umask was."""
    executable = member.isdir() or member.mode & 0o100
    member.mode = 0o755 if executable else 0o644
    return normalized(member)
