# SPDX-License-Identifier: GPL-2.0
"""Builds the machine's kernel from Debian's source and kernel/files, kernel/patches, kernel/config.

Everything is compiled in the tool root at fixed paths, so the result depends neither on the host
nor on where the checkout is.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from kloc.base import cache
from kloc.base.errors import unknown
from kloc.build import root
from kloc.build.kernel_make import Make
from kloc.build.kernel_source import (
    KERNEL,
    WorkTree,
    compiled_files,
    series_files,
    unpatched_source,
)
from kloc.build.root import Root

UNPATCHED = "unpatched"
"""The variant that is Debian's source without our changes: the baseline of cost measurements."""

MACHINE = ("base.config", "kloc.config", "machine.config")
"""The fragments of the machine's kernel, which all kernels for tests have, too."""

TROUBLE = ("pm.config", "faults.config")
"""The fragments of kernels that can be suspended, and whose allocations can be made to fail."""

DEBUG = (*MACHINE, "kunit.config", *TROUBLE, "debug.config")
"""The fragments that all debug kernels have."""

VARIANTS = {
    "machine": MACHINE,
    "kunit": (*MACHINE, "kunit.config"),
    "trouble": (*MACHINE, *TROUBLE),
    "debug": (*DEBUG, "kasan.config"),
    "debug-rt": (*DEBUG, "rt.config"),
    "debug-kcsan": (*DEBUG, "kcsan.config"),
    "base": ("base.config",),
    "kloc": ("base.config", "kloc.config"),
    UNPATCHED: ("base.config",),
}
"""The fragments of kernel/config that each variant of the kernel is configured with."""

SIMILAR = {"kunit": "machine"}
"""Variants most of whose objects are those of another one: 45 of 1770 are compiled again."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel; `series` is the hash of its patch series (see `series_hash`)."""

    bzimage: Path
    vmlinux: Path
    config: Path
    release: str
    series: str

    @property
    def image(self) -> Path:
        """What QEMU boots: the ELF file, which the machine need not decompress.

        With KASAN, the bzImage: entered by PVH, the kernel calls memcmp() before there is the
        shadow memory that memcmp() looks at.
        """
        kasan = "CONFIG_KASAN=y" in self.config.read_text().splitlines()
        return self.bzimage if kasan else self.vmlinux

    @property
    def initramfs(self) -> None:
        """None: the drivers of the machine's disk are built in."""

    def described(self) -> dict[str, str]:
        """Return what a result says of its kernel."""
        return {"release": self.release, "series": self.series}


def build(variant: str = "machine") -> Kernel:
    """Return the kernel of a variant, built on first use.

    Raises KlocError, with the last lines of output, if a patch does not apply, if Kconfig rejects a
    symbol of kernel/config, or if the compiler fails.
    """
    if variant not in VARIANTS:
        raise unknown("kernel variant", variant, VARIANTS)
    tools = root.tool_root()
    series = series_hash(variant)
    key = _key(tools, series, variant)
    entry = cache.build("kernel", key, lambda draft: _build(tools, variant, draft))
    release = (entry / "release").read_text().strip()
    return Kernel(entry / "bzImage", entry / "vmlinux", entry / "config", release, series)


def is_missing(variant: str = "machine") -> bool:
    """Return whether `build` would build the kernel of a variant now, and not take it as it is."""
    key = _key(root.tool_root(), series_hash(variant), variant)
    return cache.is_missing("kernel", key)


def _key(tools: Root, series: str, variant: str) -> str:
    return cache.key(tools.key, tools.versions()["linux-source"], series, variant)


def series_hash(variant: str = "machine") -> str:
    """Return the hash of what a variant's kernel is built from, in addition to Debian's source.

    That is kernel/files without the selftests, the patches and the configuration; for the unpatched
    kernel, only the configuration.
    """
    fragments = [KERNEL / "config" / name for name in VARIANTS[variant]]
    if variant == UNPATCHED:
        return cache.key(*fragments)
    return cache.key(*series_files(), *fragments)


def warnings() -> list[str]:
    """Return the warnings of the compiler at W=1, and of sparse, about kernel/files.

    It compiles them in the configuration of the machine's kernel, whose next build compiles them
    again.
    """
    linux = unpatched_source()
    with cache.locked(linux.parent / "work.lock", "building a kernel"):
        tree = WorkTree(root.tool_root(), linux)
        tree.update()
        make = Make(tree.tools, tree.source, tree.objects("machine"))
        make.configure(VARIANTS["machine"])
        return make.warnings(compiled_files())


def _build(tools: Root, variant: str, draft: Path) -> None:
    linux = unpatched_source()
    with cache.locked(linux.parent / "work.lock", "building a kernel"):
        tree = WorkTree(tools, linux)
        source = linux
        if variant != UNPATCHED:
            tree.update()
            source = tree.source
        objects = tree.objects(variant)
        make = Make(tools, source, objects)
        if variant in SIMILAR:
            make.take_over(tree.objects(SIMILAR[variant]))
        make.configure(VARIANTS[variant])
        make.compile()
        results = {
            "bzImage": "arch/x86/boot/bzImage",
            "vmlinux": "vmlinux",
            "config": ".config",
            "release": "include/config/kernel.release",
        }
        for name, path in results.items():
            shutil.copy(objects / path, draft / name)
