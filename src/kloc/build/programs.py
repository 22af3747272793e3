# SPDX-License-Identifier: GPL-2.0
"""Compiles C programs of this project: those of `kloc bench`, of tests, and of workloads.

Workloads have them where Debian has no package.
"""

from pathlib import Path

from kloc.base import cache, progress
from kloc.build import root
from kloc.build.root import Bind

FLAGS = ("-O2", "-static", "-Wall", "-Wextra", "-Werror")
SOURCES, OUT = Path("/sources"), Path("/out")
"""Paths inside the root; fixed, so that programs do not contain the checkout's path."""


def build(source: Path) -> Path:
    """Return the program compiled from the C file `source`, built on first use.

    It may include headers from its own directory and from libc, and links with libc and libm.
    Raises KlocError, with the compiler's messages, if it does not compile.
    """
    tools = root.tool_root()

    def make(draft: Path) -> None:
        files = ["-o", str(OUT / source.stem), str(SOURCES / source.name)]
        binds = [Bind(source.parent, SOURCES), Bind(draft, OUT)]
        with progress.shown(f"building {source.stem}"):
            tools.run(["gcc", *FLAGS, *files, "-lm"], binds=binds)

    key = cache.key(tools.key, *FLAGS, source.stem, source.parent)
    return cache.build("program", key, make) / source.stem
