# SPDX-License-Identifier: GPL-2.0
"""Compiles C programs of this project: those of `kloc bench`, of tests, and of workloads.

Workloads have them where Debian has no package. Programs are static. One that needs a library
says so in its first comment (kloc.base.c_sources): it is linked dynamically, and the
workload names a package that has the library in the machine.
"""

from pathlib import Path

from kloc.base import cache, progress
from kloc.base.c_sources import COMPILER, FLAGS, library, links
from kloc.build import apt_sources, bootstrap, guest_image, pins, root
from kloc.build.root import Bind, Root

SOURCES, OUT = Path("/sources"), Path("/out")
"""Paths inside the root; fixed, so that programs do not contain the checkout's path."""


def build(source: Path) -> Path:
    """Return the program compiled from the C file `source`, built on first use.

    It may include headers from its own directory and from libc, and links with libc and libm.
    Raises KlocError, with the compiler's messages, if it does not compile.
    """
    compiler, needed = tools_for(source)
    arguments = [*FLAGS, "-o", str(OUT / source.stem), str(SOURCES / source.name), *needed, "-lm"]

    def make(draft: Path) -> None:
        binds = [Bind(source.parent, SOURCES), Bind(draft, OUT)]
        with progress.shown(f"building {source.stem}"):
            compiler.run(["gcc", *arguments], binds=binds)

    # Not of other programs in the directory: what a workload has prepared depends on this key.
    key = cache.key(compiler.key, *arguments, source, *sorted(source.parent.glob("*.h")))
    return cache.build("program", key, make) / source.stem


def tools_for(source: Path) -> tuple[Root, list[str]]:
    """Return the root that compiles a C file and has its library, and the linker's arguments."""
    package = library(source)
    return root.tool_root() if package is None else _library_root(package), links(source)


def _library_root(package: str) -> Root:
    """Return a root with a compiler and a library, made by mmdebstrap on first use."""
    key = cache.key(apt_sources.SUITE, *COMPILER, package, pins.FILE)

    def make(draft: Path) -> None:
        root.check_namespaces()
        tar = draft / "root.tar"
        what = f"the Debian root with {package}"
        bootstrap.bootstrap(what, [*COMPILER, package], tar, seconds=40, pinned=True)
        pins.report(what, guest_image.installed(tar))
        root.unpack(tar, draft)

    return Root(cache.build("library-root", key, make) / "tree", key)
