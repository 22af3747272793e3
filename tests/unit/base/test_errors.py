# SPDX-License-Identifier: GPL-2.0
"""Errors name what is wrong and hint at what to do."""

import errno
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from kloc.base import errors
from kloc.base.errors import explained, unknown


def test_unknown_name_proposes_a_similar_one_and_lists_all() -> None:
    error = unknown("policy", "tpq", ["naive", "tpp", "stock"])
    assert "'tpq'" in error.message and "'tpp'" in error.message
    assert (error.hint or "").endswith("naive, stock, tpp")


def test_unknown_name_without_a_similar_one_proposes_none() -> None:
    assert unknown("policy", "zzz", ["naive"]).message == "unknown policy 'zzz'"
    # Every other letter is the same: that is no slip of the finger.
    assert unknown("policy", "nope", ["prec"]).message == "unknown policy 'nope'"


def test_system_error_names_the_file_and_has_its_hint() -> None:
    error = explained(OSError(errno.ENOSPC, "No space left on device", "/a/file"))
    assert "/a/file" in error.message and "No space" in error.message
    assert error.hint == errors.NO_SPACE
    assert explained(PermissionError(errno.EACCES, "Denied", "/a")).hint == errors.NOT_ALLOWED
    assert explained(OSError(errno.EIO, "Input/output error")).hint is None


def test_failed_program_is_named_with_its_status() -> None:
    error = explained(subprocess.CalledProcessError(3, ["cp", "a", "b"]))
    assert "cp" in error.message and "3" in error.message


def test_full_disk_is_named_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {Path("/a"): 5, Path("/b"): 3}
    monkeypatch.setattr(errors.shutil, "disk_usage", lambda path: SimpleNamespace(free=free[path]))
    output = "tar: x: Cannot write: No space left on device\ntar: exiting"
    found = errors.disk_full(output, "a root", Path("/a"), Path("/b"))
    assert found is not None
    assert (found.message, found.hint) == ("no space left on /b for a root", errors.NO_SPACE)
    assert errors.disk_full("no network", "a root", Path("/a")) is None
