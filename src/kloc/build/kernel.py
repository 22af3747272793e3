# SPDX-License-Identifier: GPL-2.0
"""Builds the machine's kernel: Debian's source, with kernel/files, kernel/patches, kernel/config.

All of it is compiled in the tool root at fixed paths, so that neither the host nor where the
checkout lies shows in the result. The work tree stays in the cache and is brought up to date file
by file, so that make compiles what changed and no more.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from kloc.base import cache
from kloc.base.errors import unknown
from kloc.build import root
from kloc.build.kernel_make import Make
from kloc.build.kernel_source import KERNEL, WorkTree, patches, relative_files, unpatched_source
from kloc.build.root import Root

UNPATCHED = "unpatched"
"""The variant that is Debian's source as it is: what ours is compared with."""

VARIANTS = {
    "machine": ("base.config", "kloc.config", "machine.config"),
    "debug": ("base.config", "kloc.config", "machine.config", "debug.config"),
    "base": ("base.config",),
    "kloc": ("base.config", "kloc.config"),
    UNPATCHED: ("base.config",),
}
"""The fragments of kernel/config that each kind of kernel is configured with."""

UM_CONFIG = "um.config"
"""The fragment that the kernel as a program is configured with."""

UM_STEPS = 900
"""The same for ARCH=um."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built, and the `series` it was made of (see `series`)."""

    bzimage: Path
    vmlinux: Path
    config: Path
    release: str
    series: str


def build(variant: str = "machine") -> Kernel:
    """Return the `variant`'s kernel, built if it is not in the cache.

    A patch that does not apply, a symbol that kernel/config asks for in vain, an error of the
    compiler: KlocError with the end of what was printed.
    """
    if variant not in VARIANTS:
        raise unknown("kernel variant", variant, VARIANTS)
    tools = root.tool_root()
    of = series_hash(variant)
    key = cache.key(tools.key, tools.versions()["linux-source"], of, variant)
    made = cache.build("kernel", key, lambda draft: _build(tools, variant, draft))
    release = (made / "release").read_text().strip()
    return Kernel(made / "bzImage", made / "vmlinux", made / "config", release, of)


def build_um() -> Path:
    """Return the kernel as a program, which prints its unit tests' results and ends.

    It is built for ARCH=um if it is not in the cache; KlocError as for `build`.
    """
    tools = root.tool_root()
    made_of = [KERNEL / "files", *patches(), KERNEL / "config" / UM_CONFIG]
    key = cache.key(tools.key, tools.versions()["linux-source"], *made_of)
    return cache.build("kernel-um", key, lambda draft: _build_um(tools, draft)) / "linux"


def series_hash(variant: str = "machine") -> str:
    """Return the hash of what the `variant`'s kernel is made of beside Debian's source.

    That is our files, patches and configuration; of an unpatched one, its configuration.
    """
    fragments = [KERNEL / "config" / name for name in VARIANTS[variant]]
    if variant == UNPATCHED:
        return cache.key(*fragments)
    return cache.key(KERNEL / "files", *patches(), *fragments)


def warnings() -> list[str]:
    """Return what the compiler at W=1, and sparse, say of the files in kernel/files.

    They are those of the machine's kernel, whose objects are compiled again the next time.
    """
    linux = unpatched_source()
    with cache.locked(linux.parent / "work.lock", "building a kernel"):
        tree = WorkTree(root.tool_root(), linux)
        tree.update()
        make = Make(tree.tools, tree.source, tree.objects("machine"))
        make.configure(VARIANTS["machine"])
        return make.warnings(relative_files(KERNEL / "files"))


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


def _build_um(tools: Root, draft: Path) -> None:
    linux = unpatched_source()
    with cache.locked(linux.parent / "work.lock", "building a kernel"):
        tree = WorkTree(tools, linux)
        tree.update()
        objects = tree.objects("um")
        make = Make(tools, tree.source, objects, arch="um", target="linux", steps=UM_STEPS)
        make.configure([UM_CONFIG])
        make.compile()
        shutil.copy(objects / "linux", draft / "linux")
