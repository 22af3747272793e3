# SPDX-License-Identifier: GPL-2.0
"""Hashes are those of sha256sum, of sparse files too, and a file is read once."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from kloc.base import hashes


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def test_texts_and_bytes_have_the_first_digits_of_sha256() -> None:
    assert hashes.of_text("ä") == hashes.of_bytes("ä".encode()) == sha256("ä".encode())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        bytes(3 << 20),
        bytes(5 << 20) + b"end",
        b"begin" + bytes((2 << 20) + 7),
        b"a" * (1 << 20) + bytes(3 << 20) + b"b" * 5000 + bytes(100),
    ],
    ids=["empty", "short", "zeros", "hole first", "hole last", "hole between"],
)
def test_a_file_has_the_hash_of_its_content_whether_sparse_or_not(
    content: bytes, tmp_path: Path
) -> None:
    full, sparse = tmp_path / "full", tmp_path / "sparse"
    full.write_bytes(content)
    with sparse.open("wb") as file:
        for at in range(0, len(content), 4096):
            if any(block := content[at : at + 4096]):
                file.seek(at)
                file.write(block)
        file.truncate(len(content))
    assert hashes.of_file(full) == hashes.of_file(sparse) == sha256(content)


def test_an_unchanged_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    os.utime(path, (1, 1))
    first = hashes.of_file(path)
    path.write_text("two")
    os.utime(path, (1, 1))
    assert hashes.of_file(path) == first
    os.utime(path, (2, 2))
    assert hashes.of_file(path) == sha256(b"two")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hashes.of_file(tmp_path / "none")
