# SPDX-License-Identifier: GPL-2.0
"""Builds the QEMU plugins: the timing model, and the counter of `kloc bench`."""

import shutil
from pathlib import Path

from kloc.base import cache, paths, progress
from kloc.build import root
from kloc.build.root import Bind

PLUGIN = Path("machine/plugin")
HEADERS = Path("kernel/files/include/uapi/linux")
COUNTER = paths.shipped("machine", "bench", "count.c")
COUNTER_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wstrict-prototypes", "-Wmissing-prototypes")
BUILD = Path("/build")
"""Path inside the root; fixed, so that results do not contain the checkout's path."""


def build() -> Path:
    """Return model.so, the timing model, built from machine/plugin on first use."""
    contents = [piece for path in sources() for piece in (str(path), paths.shipped(str(path)))]
    key = cache.key(root.tool_root().key, *contents)
    return cache.build("plugin", key, _make) / "model.so"


def sources() -> list[Path]:
    """Return the source files of model.so, relative to the project's files."""
    project = paths.shipped()
    names = ("*.c", "*.h", "Makefile")
    found = [path for name in names for path in (project / PLUGIN).rglob(name)]
    found += (project / HEADERS).glob("*.h")
    return sorted(path.relative_to(project) for path in found)


def run_make(directory: Path, target: str) -> str:
    """Copy the sources to `directory` and run `make target` there; return its output.

    The results are in `directory`/out. Raises KlocError, with the last lines of output, if make
    fails.
    """
    for path in sources():
        copy = directory / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.shipped(str(path)), copy)
    argv = ["make", "-C", str(BUILD / PLUGIN), f"OUT={BUILD}/out", target]
    return root.tool_root().run(argv, binds=[Bind(directory, BUILD)])


def build_counter() -> Path:
    """Return count.so, built from machine/bench/count.c on first use.

    It counts the cache lines that a system call touches.
    """
    tools = root.tool_root()
    headers = paths.shipped(str(PLUGIN))
    flags = [*COUNTER_FLAGS, *WARNINGS]
    sources, api, out = Path("/sources"), Path("/api"), Path("/out")

    def make(draft: Path) -> None:
        files = ["-I", str(api), "-o", str(out / "count.so"), str(sources / COUNTER.name)]
        binds = [Bind(COUNTER.parent, sources), Bind(headers, api), Bind(draft, out)]
        tools.run(["gcc", *flags, *files], binds=binds)

    key = cache.key(tools.key, *flags, COUNTER.parent, headers / "qemu_api.h")
    return cache.build("plugin", key, make) / "count.so"


def _make(draft: Path) -> None:
    with progress.shown("building the timing model"):
        run_make(draft / "tree", "all")
    (draft / "tree" / "out" / "model.so").rename(draft / "model.so")
    cache.remove(draft / "tree")
