# SPDX-License-Identifier: GPL-2.0
"""Reads and writes files of the running kernel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kloc.base import files
from kloc.base.errors import KlocError

ROOT = Path("/")
"""The directory that all paths are relative to; tests set another one."""

AS_ROOT = "run this command as root, for example with sudo"


def read(path: str | Path) -> str | None:
    """Return a file's text without surrounding blanks, None if it cannot be read."""
    try:
        return (ROOT / path).read_text().strip()
    except OSError:
        return None


def path_of(path: str) -> Path:
    """Return an absolute path below ROOT."""
    return ROOT / path.lstrip("/")


def exists(path: str) -> bool:
    """Return whether an absolute path exists below ROOT, False where this user may not look."""
    # Path.exists raises PermissionError there.
    return os.access(path_of(path), os.F_OK)


@contextmanager
def locked(path: str, busy: KlocError | None = None) -> Iterator[None]:
    """Hold the lock of a file below ROOT during the block, as `files.locked` does.

    Raises KlocError if the file cannot be written.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(files.locked(path_of(path), busy))
        except OSError as error:
            raise KlocError(f"cannot write {path}: {error.strerror}", AS_ROOT) from error
        yield


def write(path: str, text: str) -> None:
    """Write a line to a file that exists; `path` is absolute. Raises OSError."""
    # No file is created, and the kernel gets one write, whose error comes from here.
    descriptor = os.open(path_of(path), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        os.write(descriptor, f"{text}\n".encode())
    finally:
        os.close(descriptor)
