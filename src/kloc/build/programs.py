# SPDX-License-Identifier: GPL-2.0
"""Builds the programs that workloads bring along as C, for what Debian has no package of."""

from pathlib import Path

from kloc.base import cache, progress
from kloc.build import root
from kloc.build.root import Bind

FLAGS = ("-O2", "-static", "-Wall", "-Wextra", "-Werror")
SOURCES, OUT = Path("/sources"), Path("/out")
"""Where the root sees them, so that the result does not depend on the checkout's path."""


def build(source: Path) -> Path:
    """Return the program made of the C file `source`, built in the tool root if need be.

    It depends on the folder that it lies in, for headers, and on libc alone. KlocError, with what
    the compiler said, if it fails.
    """
    tools = root.tool_root()

    def make(draft: Path) -> None:
        files = ["-o", str(OUT / source.stem), str(SOURCES / source.name)]
        binds = [Bind(source.parent, SOURCES), Bind(draft, OUT)]
        with progress.shown(f"building {source.stem}"):
            tools.run(["gcc", *FLAGS, *files, "-lm"], binds=binds)

    return cache.build(
        "program", cache.key(tools.key, *FLAGS, source.stem, source.parent), make
    ) / (source.stem)
