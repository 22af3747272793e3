# SPDX-License-Identifier: GPL-2.0
"""Lists the entries of the cache directory: kind, size, last use, and whether they are needed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from kloc.base import cache, paths
from kloc.base.errors import KlocError
from kloc.build import (
    browser,
    data_image,
    deb,
    foreign_kernel,
    guest_image,
    initramfs,
    kernel,
    kernel_git,
    kernel_package,
    kernel_source,
    plugin,
    programs,
    qemu,
    root,
)
from kloc.machine import guest_commands, profile
from kloc.machine.parts import FREE, MARK, prepare_parts
from kloc.machine.profile import Storage
from kloc.measure import policy, prepared, workload
from kloc.measure.cost import runner as cost
from kloc.measure.machine_bench import answers
from kloc.measure.workload import Workload

TEST_PROGRAMS = paths.PROJECT / "tests" / "plugin"
"""The directory of the C programs that tests run in the machine."""

CONTENTS = {
    "python": "kloc's own Python environment",
    "root": "the Debian root with compiler, and the sources of the kernel and QEMU",
    "library-root": "Debian roots with compiler and a library that programs link with",
    "linux": "the kernel's source and objects",
    "linux-repository": "the kernel's source as a git repository",
    "qemu": "built QEMUs of the machine",
    "ccache": "compiled files",
    "kernel": "built kernels",
    "foreign-kernel": "kernels of --kernel",
    "kernel-package": "packages of kernels for servers",
    "plugin": "built timing models, and the counter of kloc bench",
    "guest-debian": "Debian packages for the machine",
    "guest": "disk images for the machine",
    "program": "built C programs of workloads, of kloc bench and of tests",
    "data": "empty disks for the machine",
    "prepared": "disks that workloads have prepared",
    "packaging": "the Debian root that builds packages",
    "kernel-packaging": "the Debian root that builds kernels for servers",
    "browser": "the Debian root with the browser that reports are tested in",
    "tables": "results of kloc bench tables",
    "last": "results of the last kloc compare, and its report",
    "mypy": "the cache of the type checker",
    "scratch": "files of current runs, and of the last ones that failed",
}
"""The kinds of cache entries, which are the subdirectories of the cache directory."""


@dataclass(frozen=True)
class Item:
    """A cache entry: its size in bytes, and when it was last used, in seconds since 1970.

    `used_here` says whether this checkout would use it.
    """

    path: Path
    size: int
    last_used: float
    used_here: bool

    @property
    def kind(self) -> str:
        """Return its kind, a key of CONTENTS."""
        return self.path.parent.name

    @property
    def days(self) -> float:
        """Return for how many days it has not been used."""
        return (time.time() - self.last_used) / 86400


def sizes() -> dict[str, int]:
    """Return the bytes that each kind takes in the cache directory."""
    paths = [cache.directory() / kind for kind in CONTENTS]
    return {path.name: size for path, size in _disk_usage(filter(Path.is_dir, paths)).items()}


def items() -> list[Item]:
    """Return all entries that have a content hash, the last used one at the end."""
    used = used_here()
    entries = [path for kind in CONTENTS for path in cache.entries(kind)]
    directories = {path: cache.entry_directories(path) for path in entries}
    usage = _disk_usage(chain.from_iterable(directories.values()))
    found = [
        Item(
            path,
            sum(usage.get(directory, 0) for directory in directories[path]),
            cache.last_used(path),
            path in used,
        )
        for path in entries
    ]
    return sorted(found, key=lambda item: item.last_used)


def used_here() -> set[Path]:
    """Return the paths in the cache directory that this checkout uses, or would use.

    Every builder runs without building anything. If it needs something that is not in the cache,
    then the things that it builds from that are not there either, and their paths are unknown.
    Files with mistakes, which `check` reports, are left out.
    """
    with cache.dry_run() as paths:
        for build in _builders():
            with suppress(OSError, KlocError):
                build()
    return {*paths, Path(sys.prefix)}


def check() -> None:
    """Raise KlocError if a workload or a machine of this checkout cannot be read.

    It is then unknown which cache entries they use.
    """
    workload.names()
    for name in profile.names():
        profile.read(name)


def _builders() -> Iterator[Callable[[], object]]:
    """Yield a call of every function that builds a cache entry, as this checkout would make it."""
    yield root.tool_root
    yield qemu.build
    yield plugin.build
    yield plugin.build_counter
    yield kernel_source.unpatched_source
    yield kernel_git.repository
    yield from (partial(kernel.build, variant) for variant in kernel.VARIANTS)
    yield partial(foreign_kernel.prepare, foreign_kernel.TESTED)
    yield browser.browser_root
    yield deb.packaging_root
    yield kernel_package.packaging_root
    yield from (partial(_kernel_packages, flavour) for flavour in kernel_package.FLAVOURS)
    workloads: list[Workload] = []
    # A mistake in one file makes all workloads unreadable.
    with suppress(KlocError):
        workloads = [workload.load(name) for name in workload.names()]
    packages = {(), guest_commands.PACKAGES, *(one.packages for one in workloads)}
    # Policies that are daemons have guests of their own.
    daemons = {more for name in policy.names() if (more := _policy_packages(name))}
    packages |= {(*own, *more) for own in packages for more in daemons}
    yield from (partial(guest_image.guest_image, names) for names in sorted(packages))
    sources = {workload.SOURCES / name for one in workloads for name in one.programs}
    sources.update({cost.CALLS, MARK, FREE, initramfs.INIT_SOURCE})
    sources.update(answers.SOURCES.glob("*.c"), TEST_PROGRAMS.glob("*.c"))
    yield from (partial(programs.build, source) for source in sorted(sources))
    storages: set[Storage] = set()
    for name in profile.names():
        with suppress(KlocError):
            storages.add(profile.read(name).storage)
    empty = {cost.DISK_BYTES, *(storage.capacity for storage in storages)}
    yield from (partial(_build_empty_disk, size) for size in sorted(empty))
    for one in workloads:
        yield from (partial(_prepare_disks, one, storage) for storage in storages)


def _policy_packages(name: str) -> tuple[str, ...]:
    """Return the packages that a policy needs in the guest, none if its file has a mistake."""
    try:
        return policy.load(name).packages
    except KlocError:
        return ()


def _prepare_disks(one: Workload, storage: Storage) -> None:
    parts = prepare_parts(one.packages, (workload.SOURCES / name for name in one.programs))
    for size in (workload.FULL, workload.QUICK):
        prepared.disk(one, size, 1, storage, parts)


def _kernel_packages(flavour: str) -> None:
    kernel_package.Build(flavour).packages()


def _build_empty_disk(size: int) -> None:
    data_image.data_image(root.tool_root(), size)


def _disk_usage(directories: Iterable[Path]) -> dict[Path, int]:
    """Return the bytes that each of these directories takes on the disk."""
    paths = list(map(str, directories))
    if not paths:
        return {}
    du = ["du", "--summarize", "--block-size=1", *paths]
    lines = subprocess.run(du, capture_output=True, text=True, check=False).stdout.splitlines()
    return {Path(path): int(size) for size, path in (line.split("\t") for line in lines)}
