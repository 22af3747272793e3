# SPDX-License-Identifier: GPL-2.0
"""Makes initramfs images: archives of files that the kernel unpacks into memory when it boots.

`write` packs any files. `write_boot` packs what kernels need that were not built for the machine:
machine/guest/initramfs_init.c, and the modules of the machine's disk.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kloc.base import paths
from kloc.base.errors import KlocError
from kloc.build import bootstrap, programs, root
from kloc.build.root import Bind

INIT_SOURCE = paths.shipped("machine", "guest", "initramfs_init.c")

WANTED = ("virtio_pci", "virtio_blk", "ext4", "overlay")
"""Modules that the machine's guest needs."""

OPTIONAL = ("crc32c_generic",)
"""Modules loaded before the wanted ones if the kernel has them: ext4 asks for them by alias."""

DECOMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
}

CPIO = ("cpio", "--quiet", "--create", "--format=newc", "--reproducible", "--owner=0:0")


class Modules:
    """The modules of one kernel, in the directory of the release under /usr/lib/modules."""

    def __init__(self, directory: Path) -> None:
        """Find the modules, and the names of those that are built into the kernel."""
        self._files = {
            module_name(path): path for path in sorted(directory.rglob("*.ko*")) if path.is_file()
        }
        builtin = directory / "modules.builtin"
        lines = builtin.read_text().splitlines() if builtin.exists() else []
        self._builtin = {module_name(Path(line)) for line in lines}

    def has(self, name: str) -> bool:
        """Return whether the kernel has a module, built in or as a file."""
        return name in self._builtin or name in self._files

    def read(self, name: str) -> bytes:
        """Return the content of a module's file, decompressed."""
        path = self._files[name]
        if path.suffix == ".ko":
            return path.read_bytes()
        if path.suffix not in DECOMPRESS:
            raise KlocError(
                f"cannot read the kernel module {path.name}: its compression is unknown",
                f"give a kernel whose modules end in .ko or {', .ko'.join(DECOMPRESS)}",
            )
        return DECOMPRESS[path.suffix](path.read_bytes())

    def in_order(self, names: Sequence[str]) -> list[str]:
        """Return the module files to load for `names`: each after those that it depends on.

        Built-in modules are left out. Raises KlocError if the kernel lacks a module.
        """
        order: list[str] = []
        for name in names:
            self._append(name, order)
        return order

    def _append(self, name: str, order: list[str]) -> None:
        if name in order or name in self._builtin:
            return
        if name not in self._files:
            raise KlocError(
                f"the kernel has no {name}, neither built in nor as a module",
                "the machine's disks need it: give a kernel that has it, as Debian's have",
            )
        for needed in dependencies(self.read(name)):
            self._append(needed, order)
        order.append(name)


def module_name(path: Path) -> str:
    """Return the name of the module in a file such as `crc32c-intel.ko.xz`: crc32c_intel."""
    return path.name.partition(".ko")[0].replace("-", "_")


def dependencies(module: bytes) -> list[str]:
    """Return the names of the modules that a module needs, which its .modinfo section lists.

    modules.dep has them, too, but packages do not: depmod writes it when they are installed.
    """
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    names = found[1].decode().split(",") if found else []
    return [name.replace("-", "_") for name in names if name]


def write_boot(modules: Modules | None, image: Path) -> None:
    """Write to `image` the initramfs that boots a kernel with these modules.

    None stands for a kernel without modules; the machine reports what it lacks when it boots.
    Raises KlocError if `modules` lack a driver of the machine's disk.
    """
    with tempfile.TemporaryDirectory(dir=image.parent) as temporary:
        directory = Path(temporary)
        files = {"init": programs.build(INIT_SOURCE)}
        if modules is not None:
            present = [name for name in OPTIONAL if modules.has(name)]
            order = modules.in_order([*present, *WANTED])
            for name in order:
                path = directory / name
                path.write_bytes(modules.read(name))
                files[f"modules/{name}"] = path
            listing = directory / "order"
            listing.write_text("".join(f"{name}\n" for name in order))
            files["modules/order"] = listing
        write(files, ("dev", "proc", "sys"), image)


def write(files: Mapping[str, Path], directories: Sequence[str], image: Path) -> None:
    """Write to `image` an initramfs with the host's `files`, by their paths in it.

    `directories` are empty ones. The image is the same to the byte wherever it is made. It is not
    compressed: every kernel can read it, and none needs time to unpack it.
    """
    with tempfile.TemporaryDirectory(dir=image.parent) as temporary:
        tree = Path(temporary)
        for name in directories:
            (tree / name).mkdir()
        for name, source in files.items():
            (tree / name).parent.mkdir(exist_ok=True)
            shutil.copy(source, tree / name)
        names = sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))
        for name in (".", *names):
            path = tree / name
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
            os.utime(path, (bootstrap.EPOCH, bootstrap.EPOCH))
        # Where the tool root has the directory of `image`.
        mounted = Path("/build")
        root.tool_root().run(
            [*CPIO, f"--file={mounted / image.name}"],
            binds=[Bind(image.parent, mounted)],
            cwd=mounted / tree.name,
            stdin="\n".join([".", *names]) + "\n",
        )
