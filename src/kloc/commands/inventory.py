# SPDX-License-Identifier: GPL-2.0
"""What is in the cache folder: which kinds of things, how large, who uses them, what may go."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build import (
    browser,
    data_image,
    guest_image,
    kernel,
    kernel_git,
    kernel_source,
    plugin,
    programs,
    root,
)
from kloc.machine import guest_commands, profile
from kloc.measure import workload
from kloc.measure.cost import kernels
from kloc.measure.workload import Workload

TESTED = PROJECT / "tests" / "plugin"
"""Programs that tests run in the machine."""

CONTENTS = {
    "python": "kloc's own Python environment",
    "root": "the Debian root with compiler, kernel source and QEMU",
    "linux": "the kernel's source and objects",
    "linux-git": "the kernel's source as a git repository",
    "ccache": "compiled files",
    "kernel": "built kernels",
    "kernel-um": "the kernel as a program, which runs its unit tests",
    "plugin": "built timing models, and the counter of kloc bench",
    "guest-debian": "Debian packages for the machine",
    "guest": "disk images for the machine",
    "program": "programs that workloads and kloc bench bring along",
    "data": "empty disks for the machine",
    "browser": "the Debian root with the browser that reports are tested in",
    "mypy": "what the type checker remembers",
    "scratch": "runs under way, and the last ones that failed",
}
"""The kinds of things in the cache folder."""

OLD_DAYS = 30
"""What nobody has used for so long is not missed."""


@dataclass(frozen=True)
class Item:
    """One thing in the cache: bytes, when it was last used (as time.time())."""

    path: Path
    size: int
    last_used: float
    used_here: bool

    @property
    def kind(self) -> str:
        """Return what it is, a key of CONTENTS."""
        return self.path.parent.name

    @property
    def days(self) -> float:
        """Return for how many days nobody has used it."""
        return (time.time() - self.last_used) / 86400


def sizes() -> dict[str, int]:
    """Return the bytes that each kind of thing takes in the cache folder."""
    there = [cache.directory() / kind for kind in CONTENTS if (cache.directory() / kind).is_dir()]
    return {path.name: size for path, size in _weighed(there).items()}


def items() -> list[Item]:
    """Return all things that are kept by content, those that were used last at the end."""
    wanted = used_here()
    there = [path for kind in CONTENTS for path in cache.entries(kind)]
    folders = [folder for path in there for folder in cache.entry_directories(path)]
    weight = _weighed(folders)
    found = [
        Item(
            path,
            sum(weight.get(folder, 0) for folder in cache.entry_directories(path)),
            cache.last_used(path),
            path in wanted,
        )
        for path in there
    ]
    return sorted(found, key=lambda item: item.last_used)


def used_here() -> set[Path]:
    """Return where in the cache is, or would be, what this checkout uses.

    Every builder is asked for what it builds, and nothing is built. What is made from something
    that is not there yet cannot be told, nor be there. What `check` complains of is left out.
    """
    with cache.dry_run() as noted:
        for ask in _builders():
            with suppress(OSError, KlocError):
                ask()
    return {*noted, Path(sys.prefix)}


def check() -> None:
    """Raise KlocError if a workload or a machine of this checkout cannot be read.

    Nobody knows then what it uses.
    """
    workload.names()
    for name in profile.names():
        profile.read(name)


def _builders() -> Iterator[Callable[[], object]]:
    yield root.tool_root
    yield plugin.build
    yield plugin.build_counter
    yield kernel_source.unpatched_source
    yield kernel_git.repository
    yield from (partial(kernel.build, variant) for variant in kernel.VARIANTS)
    yield kernel.build_um
    yield browser.browser_root
    known: list[Workload] = []
    # One file with a mistake, and no workload is known.
    with suppress(KlocError):
        known = [workload.load(name) for name in workload.names()]
    packages = {(), guest_commands.PACKAGES, *(each.packages for each in known)}
    yield from (partial(guest_image.guest_image, names) for names in sorted(packages))
    sources = {workload.SOURCES / name for each in known for name in each.programs}
    sources.update({kernels.CALLS}, TESTED.glob("*.c"))
    yield from (partial(programs.build, source) for source in sorted(sources))
    disks = {kernels.DISK_BYTES}
    for name in profile.names():
        with suppress(KlocError):
            disks.add(profile.read(name).storage.capacity)
    yield from (partial(_disk, size) for size in sorted(disks))


def _disk(size: int) -> None:
    data_image.data_image(root.tool_root(), size)


def _weighed(paths: Sequence[Path]) -> dict[Path, int]:
    """Return the bytes that each of these folders takes on the disk."""
    if not paths:
        return {}
    du = ["du", "--summarize", "--block-size=1", *map(str, paths)]
    lines = subprocess.run(du, capture_output=True, text=True, check=False).stdout.splitlines()
    return {Path(path): int(size) for size, path in (line.split("\t") for line in lines)}
