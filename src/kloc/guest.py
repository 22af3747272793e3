# SPDX-License-Identifier: GPL-2.0
"""Disk images for the machine: the Debian that it runs, and the files of one job."""

import json
import re
import tarfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from kloc import cache, debian, root, ui
from kloc.errors import KlocError
from kloc.paths import PROJECT
from kloc.root import Root

FILES = PROJECT / "machine" / "guest"
"""What the project puts into the guest, as /kloc."""

BASE_PACKAGES = ("iproute2", "mawk", "mount", "numactl", "procps")
"""What every guest has beside Debian's essential packages."""

UUID = str(uuid.UUID(int=0x6B6C6F63))
"""Every image's identity, and the seed of its directories' hashes."""

BLOCK_BYTES = 4096
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
    debian_key = cache.key(debian.SUITE, *names)
    tree = cache.build("guest-debian", debian_key, lambda draft: _bootstrap(names, draft))
    image_key = cache.key(IMAGE_FORMAT, debian_key, FILES)
    made = cache.build("guest", image_key, lambda draft: _guest(tree, draft / "root.img"))
    path = made / "root.img"
    versions: dict[str, str] = json.loads((tree / "versions.json").read_text())
    return GuestImage(path, path.stat().st_size, versions)


def job_image(files: Mapping[str, Path], image: Path) -> None:
    """Make `image` with the host's `files` (folders as a whole) at their absolute guest paths.

    Modes are kept; owners become root and times a fixed one. A file that is not there: KlocError.
    """
    tar = image.with_suffix(".tar")
    made: set[str] = set()
    with tarfile.open(tar, "w") as out:
        for target, source in sorted(files.items()):
            if not source.exists():
                raise KlocError(f"there is no {source} to copy into the machine")
            for parent in _new_parents(target, made):
                out.addfile(parent)
            # What a link is to need not be there; links within a folder stay what they are.
            out.add(source.resolve(), target.lstrip("/"), filter=_plain)
    _make_ext4(root.tool_root(), tar, image)
    tar.unlink()


def _new_parents(target: str, made: set[str]) -> Iterator[tarfile.TarInfo]:
    """Yield the folders above `target` that are not `made` yet: mke2fs makes none by itself."""
    for parent in reversed(PurePosixPath(target).parents):
        name = str(parent).lstrip("/")
        if name and name not in made:
            made.add(name)
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE
            member.mode = 0o1777 if name == "tmp" else 0o755
            yield _plain(member)


def _checked(package: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", package):
        raise KlocError(f"'{package}' cannot be the name of a Debian package")
    return package


def _bootstrap(names: Sequence[str], draft: Path) -> None:
    tar = draft / "root.tar"
    debian.bootstrap(f"a guest with {', '.join(names)}", names, tar, seconds=30)
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
    with ui.timed("putting the guest's image together", seconds=5):
        with tarfile.open(tree / "root.tar") as debian_tar, tarfile.open(tar, "w") as out:
            for member, content in _members(debian_tar):
                out.addfile(member, content)
            out.add(FILES, "./kloc", filter=_ours)
        _make_ext4(tools, tar, image)
    tar.unlink()


def _members(source: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Yield what of `source` goes into an image, in the order of names, parents first."""
    for member in sorted(source.getmembers(), key=lambda member: member.name):
        if not LEFT_OUT.match(member.name):
            member.mtime = debian.EPOCH
            member.pax_headers = {}
            yield member, source.extractfile(member) if member.isreg() else None


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mtime = debian.EPOCH
    return member


def _ours(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Give a file of the checkout the mode that git knows, whatever the umask was."""
    executable = member.isdir() or member.mode & 0o100
    member.mode = 0o755 if executable else 0o644
    return _plain(member)


def _make_ext4(tools: Root, tar: Path, image: Path) -> None:
    """Make `image` an ext4 file system, without a journal, of what is in `tar`."""
    size = _image_bytes(tar)
    with image.open("wb") as file:
        file.truncate(size)
    tools.run(
        [
            *(
                "mke2fs",
                "-q",
                "-F",
                "-t",
                "ext4",
                "-d",
                str(tar),
                "-b",
                str(BLOCK_BYTES),
                "-m",
                "0",
            ),
            *("-O", "^has_journal,^resize_inode", "-U", UUID),
            *("-E", f"hash_seed={UUID},lazy_itable_init=0,root_owner=0:0", str(image)),
        ],
        binds=[tar.parent],
        env={"SOURCE_DATE_EPOCH": str(debian.EPOCH)},
    )


def _image_bytes(tar: Path) -> int:
    """Return a size with room to spare: a device's memory is a power of two of bytes."""
    content = 0
    with tarfile.open(tar) as tree:
        for member in tree:
            content += BLOCK_BYTES + -(-member.size // BLOCK_BYTES) * BLOCK_BYTES
    return 1 << max(24, int(content * 1.1).bit_length())
