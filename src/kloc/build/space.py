# SPDX-License-Identifier: GPL-2.0
"""The disk space that building needs; it is checked before the first build begins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from kloc.base import cache, terminal
from kloc.base.errors import NO_SPACE, KlocError
from kloc.base.sizes import rounded_size
from kloc.build import bootstrap

DISK_NEEDED = 12 << 30
"""Bytes in the cache directory: everything that is built, tests included."""

MACHINE_NEEDED = 6 << 30
"""Bytes in the cache directory: what a machine is built from, and a few guests."""

PACKAGE_NEEDED = 10 << 30
"""Bytes in the cache directory: objects and packages of a kernel for servers, estimated."""

TEMPORARY_NEEDED = 3 << 30
"""Bytes in bootstrap.TEMPORARY while a Debian root is created."""


def check() -> None:
    """Raise KlocError if the disk has no space for what a machine is built from.

    What the cache has already counts as space. Print a message if there is less than DISK_NEEDED.
    """
    directory = cache.directory()
    free = _free(directory)
    if free < DISK_NEEDED:
        free += _used(directory)
    _require(directory, free, MACHINE_NEEDED)
    _require(bootstrap.TEMPORARY, _free(bootstrap.TEMPORARY), TEMPORARY_NEEDED)
    if free < DISK_NEEDED:
        terminal.say(
            f"{directory} has space for {rounded_size(free)}; "
            f"with all tests, kloc needs {rounded_size(DISK_NEEDED)}"
        )


def check_package(objects: Path) -> None:
    """Raise KlocError if the disk has no space for the packages of a kernel.

    What a build that was stopped has left in `objects` counts as space.
    """
    directory = cache.directory()
    free = _free(directory)
    if free < PACKAGE_NEEDED:
        free += _used(objects)
    _require(directory, free, PACKAGE_NEEDED)


def _free(directory: Path) -> int:
    return shutil.disk_usage(directory).free


def _require(directory: Path, available: int, needed: int) -> None:
    if available < needed:
        raise KlocError(
            f"no space left on {directory} for what kloc builds: "
            f"{rounded_size(available)}, {rounded_size(needed)} needed",
            NO_SPACE if directory != bootstrap.TEMPORARY else "free disk space there",
        )


def _used(directory: Path) -> int:
    """Return the bytes that a directory takes."""
    du = ["du", "--summarize", "--block-size=1", str(directory)]
    printed = subprocess.run(du, capture_output=True, text=True, check=False).stdout
    return int(printed.split()[0]) if printed else 0
