# SPDX-License-Identifier: GPL-2.0
"""Kernels that this project did not build: Debian's packages, .deb files and bzImage files.

`prepare` makes what the machine boots of one: the bzImage, and an initramfs with the modules of the
machine's disk.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kloc.base import cache, progress
from kloc.base.errors import KlocError
from kloc.build import apt_sources, bootstrap, initramfs, root
from kloc.build.root import Bind

FORMAT = "1"
"""Part of the cache key: change it when kernels are prepared differently."""

DOWNLOADS = Path("kernel")
"""The directory of a fetched root with the .deb files."""

TESTED = "linux-image-cloud-amd64"
"""The package that tests run, and that this checkout therefore uses."""

EXAMPLES = "a bzImage, a .deb file, or a Debian package such as linux-image-cloud-amd64"

DEB_MAGIC = b"!<arch>\n"
"""How a package's file begins."""

MAGIC, MAGIC_AT = b"HdrS", 0x202
VERSION_AT, VERSION_BASE = 0x20E, 0x200
LOAD_FLAGS_AT, LOAD_FLAG_64 = 0x236, 1
"""Where the header of a bzImage has its magic number, the offset of the release's text, and flags.

See Documentation/arch/x86/boot.rst in the kernel's source.
"""

HEADER_BYTES = VERSION_BASE + (1 << 16) + 256
"""The part of a bzImage that has the header, and the release's text at whatever offset."""


@dataclass(frozen=True)
class ForeignKernel:
    """A kernel that this project did not build, ready to boot.

    `origin` says what it is: the package and its version, or the hash of its bzImage.
    """

    bzimage: Path
    initramfs: Path
    release: str
    origin: dict[str, str]

    @property
    def image(self) -> Path:
        """What QEMU boots."""
        return self.bzimage

    def described(self) -> dict[str, str]:
        """Return what a result says of its kernel."""
        return {"release": self.release, **self.origin}


def check(name: str) -> None:
    """Raise KlocError unless `name` is a bzImage, a .deb file, or the name of a kernel's package.

    Whether Debian has the package, and the .deb file a kernel, shows when it is fetched or opened.
    """
    if not _is_path(name):
        if not re.fullmatch(r"linux-image-[a-z0-9+.-]+", name):
            raise KlocError(f"'{name}' is not a kernel", f"--kernel takes {EXAMPLES}")
        return
    path = Path(name)
    if not path.is_file():
        raise KlocError(f"{name} is not a file", f"--kernel takes {EXAMPLES}")
    if path.suffix != ".deb":
        release_of(path)
    elif _beginning(path, len(DEB_MAGIC)) != DEB_MAGIC:
        raise KlocError(f"{name} is no package of Debian's", f"--kernel takes {EXAMPLES}")


def prepare(name: str) -> ForeignKernel:
    """Return the kernel `name`: the path of a bzImage or .deb file, or a package of Debian.

    A package is fetched on first use, in the version that Debian has then. That version is used
    until its cache entry is pruned. Raises KlocError if there is no such kernel, or if its package
    lacks a driver of the machine's disk.
    """
    check(name)
    path = Path(name)
    content: tuple[str | Path, ...] = (path,)
    if not _is_path(name):
        content = (apt_sources.SUITE, name)
        fill = partial(_fetch_package, name)
    elif path.suffix == ".deb":
        fill = partial(_unpack, path)
    else:
        fill = partial(_write, bzimage=path, modules=None, origin={"image": cache.key(path)})
    key = cache.key(FORMAT, initramfs.INIT_SOURCE, *content)
    return _read(cache.build("foreign-kernel", key, fill))


def release_of(bzimage: Path) -> str:
    """Return the release of a kernel, as uname -r prints it, from the header of its bzImage.

    Raises KlocError if the file is not the bzImage of a 64-bit kernel.
    """
    content = _beginning(bzimage, HEADER_BYTES)
    if content[MAGIC_AT : MAGIC_AT + len(MAGIC)] == MAGIC:
        (offset,) = struct.unpack_from("<H", content, VERSION_AT)
        text = content[VERSION_BASE + offset :][:256].partition(b"\0")[0]
        if not content[LOAD_FLAGS_AT] & LOAD_FLAG_64:
            raise KlocError(
                f"{bzimage} is a 32-bit kernel",
                "the machine is an x86-64: build it with CONFIG_64BIT",
            )
        if offset and text:
            return text.decode(errors="replace").split()[0]
    raise KlocError(
        f"{bzimage} is not a bzImage",
        "the kernel's build writes one to arch/x86/boot/bzImage; packages have it as /boot/vmlinuz",
    )


def fetch_hook(package: str) -> str:
    """Return the hook of `bootstrap` that fetches a package's .deb file.

    A metapackage such as linux-image-amd64 has no kernel itself: the package that it depends on is
    fetched, too.
    """
    depends = f"apt-cache show --no-all-versions {package} | sed -n 's/^Depends: //p'"
    kernels = "tr , '\\n' | sed -n 's/^ *\\(linux-image-[^ ]*\\).*/\\1/p'"
    return bootstrap.fetch_hook(
        f"apt-get --quiet download {package} $({depends} | {kernels})", DOWNLOADS
    )


def _beginning(path: Path, count: int) -> bytes:
    """Return the first `count` bytes of a file. Raises KlocError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise KlocError(
            f"cannot read {path}: {error.strerror}",
            "make it readable, or run kloc as a user with access",
        ) from error


def _is_path(name: str) -> bool:
    return "/" in name or name.endswith(".deb") or Path(name).exists()


def _fetch_package(package: str, draft: Path) -> None:
    """Fill the entry of a package of Debian."""
    tar, debs = draft / "root.tar", draft / "debs"
    what = f"a root to fetch {package} with"
    bootstrap.bootstrap(what, (), tar, seconds=15, variant="custom", hook=fetch_hook(package))
    debs.mkdir()
    extract = ["tar", "--extract", "--no-same-owner", f"--file={tar}", f"--directory={debs}"]
    subprocess.run([*extract, "--strip-components=2", f"./{DOWNLOADS}"], check=True)
    tar.unlink()
    # A metapackage is by far smaller than the kernel's package that came with it.
    _unpack(max(debs.glob("*.deb"), key=lambda path: path.stat().st_size), draft)
    cache.remove(debs)


def _unpack(deb: Path, draft: Path) -> None:
    """Fill the entry of the kernel in a .deb file."""
    mounted, package = Path("/build"), Path("/kernel.deb")
    binds = [Bind(draft, mounted), Bind(deb, package)]
    tools, tree = root.tool_root(), draft / "tree"
    show = ["dpkg-deb", "--show", "--showformat=${Package} ${Version}", str(package)]
    extract = ["dpkg-deb", "--extract", str(package), str(mounted / "tree")]
    try:
        with progress.estimated(f"unpacking {deb.name}", seconds=10):
            fields = tools.run(show, binds=binds)
            tools.run(extract, binds=binds)
    except KlocError as error:
        raise KlocError(
            f"{deb} is no package of Debian's, or damaged: {error.message}",
            "fetch it again, for example with apt-get download",
        ) from error
    name, version = fields.split()
    images = sorted(tree.glob("boot/vmlinuz-*"))
    if len(images) != 1:
        raise KlocError(f"package {name} has no kernel", f"--kernel takes {EXAMPLES}")
    release = release_of(images[0])
    found = [tree / prefix / "modules" / release for prefix in ("usr/lib", "lib")]
    modules = next((initramfs.Modules(path) for path in found if path.is_dir()), None)
    _write(draft, images[0], modules, {"package": name, "version": version})
    cache.remove(tree)


def _write(
    draft: Path, bzimage: Path, modules: initramfs.Modules | None, origin: dict[str, str]
) -> None:
    """Fill an entry: copy the kernel, make its initramfs and note where it is from."""
    shutil.copy(bzimage, draft / "bzImage")
    (draft / "origin.json").write_text(json.dumps(origin))
    initramfs.write_boot(modules, draft / "initramfs")


def _read(entry: Path) -> ForeignKernel:
    bzimage = entry / "bzImage"
    origin: dict[str, str] = json.loads((entry / "origin.json").read_text())
    return ForeignKernel(bzimage, entry / "initramfs", release_of(bzimage), origin)
