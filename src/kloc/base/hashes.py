# SPDX-License-Identifier: GPL-2.0
"""Hashes of texts and files: the first 16 hexadecimal digits of SHA-256, as sha256sum prints it."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

DIGITS = 16

CHUNK = 1 << 20
"""Bytes that are read and hashed at a time."""


def of_bytes(content: bytes) -> str:
    """Return the hash of `content`."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def of_text(text: str) -> str:
    """Return the hash of `text` in UTF-8."""
    return of_bytes(text.encode())


def of_file(path: Path) -> str:
    """Return the hash of a file's content; its name, mode and times do not matter.

    A file that has not changed (size and modification time) is read once in this process. Raises
    OSError if the file cannot be read.
    """
    status = path.stat()
    return _of_file(path.resolve(), status.st_mtime_ns, status.st_size)


@functools.cache
def _of_file(path: Path, _modified_ns: int, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        for piece in _pieces(file.fileno(), size):
            digest.update(piece)
    return digest.hexdigest()[:DIGITS]


def _pieces(file: int, size: int) -> Iterator[bytes]:
    """Yield the content of a file. Its holes, most of a disk image, are not read."""
    zeros = bytes(CHUNK)
    at = 0
    while at < size:
        data = _next_data(file, at, size)
        for start in range(at, data, CHUNK):
            yield zeros[: data - start]
        at = min(os.lseek(file, data, os.SEEK_HOLE), size) if data < size else size
        for start in range(data, at, CHUNK):
            yield os.pread(file, min(CHUNK, at - start), start)


def _next_data(file: int, at: int, size: int) -> int:
    """Return where data begins at or after `at`; `size` if only a hole follows."""
    try:
        return min(os.lseek(file, at, os.SEEK_DATA), size)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return size
        raise
