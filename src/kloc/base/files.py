# SPDX-License-Identifier: GPL-2.0
"""Reads text that users name, and writes files atomically.

Whoever reads a file meanwhile sees its old content or the new, never a part of it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kloc.base import terminal
from kloc.base.errors import HINTS, KlocError

NO_ACCESS = "choose a writable path, or run kloc as a user with access"

OLD = ".old"
"""The suffix of what was in a file of results before."""

_ours: set[Path] = set()
"""The files of results that this process has written, or continues."""

_silent: set[Path] = set()
"""The files of which no message says that an old one is kept: the user has not named them."""


def read_text(path: Path, option: str) -> str:
    """Return the text of a file that the user named with `option`, such as "--setup".

    Raises KlocError if it cannot be read, or is not text in UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise KlocError(f"{option} {path}: this is not a text file", "name a text file") from error
    except OSError as error:
        hint = HINTS.get(error.errno or 0, "name a text file")
        raise KlocError(f"{option} {path}: {error.strerror}", hint) from error


@contextmanager
def locked(path: Path, busy: KlocError | None = None) -> Iterator[None]:
    """Hold the lock of a file, which is made if missing, during the block.

    Wait while another process holds it, or raise `busy` if that is given. Raises OSError if the
    file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except BlockingIOError as error:
            assert busy is not None
            raise busy from error
        yield


def draft_of(path: Path) -> Path:
    """Return the file that `write_text` writes first, and then renames to `path`."""
    return path.with_name(f".{path.name}.draft")


def write_text(path: Path, text: str, keep: bool = False) -> None:
    """Replace the content of `path` with `text`, and wait until it is on the disk.

    On failure, on a full disk for example, `path` keeps its content; so it does if this process is
    killed, or the host loses power, before the end. `keep`: keep what was in the file as
    `keep_old` does. Characters that UTF-8 cannot encode are written as XML character references.
    Raises KlocError if the file cannot be written.
    """
    draft = draft_of(path)
    try:
        draft.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")
        _sync(draft)
        if keep:
            keep_old(path)
        draft.rename(path)
        _sync(path.absolute().parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        hint = HINTS.get(error.errno or 0)
        raise KlocError(f"cannot write {path}: {error.strerror}", hint) from error


def check_writable(option: str, path: Path) -> None:
    """Raise KlocError unless the file `path`, which `option` names, can be written.

    Call this before a run starts, so that no result is lost at its end.
    """
    directory = path.absolute().parent
    try:
        if not directory.is_dir():
            raise KlocError(
                f"{option} {path}: directory {directory} does not exist", "create it first"
            )
        # Before `path` itself, which cannot even be looked up in a directory without access.
        if not os.access(directory, os.W_OK | os.X_OK):
            raise KlocError(f"{option} {path}: no permission to write to {directory}", NO_ACCESS)
        if path.is_dir():
            raise KlocError(f"{option} {path}: this is a directory", "name a file in it")
        # The file is written under another name and renamed, which would replace a device.
        if path.exists() and not path.is_file():
            raise KlocError(f"{option} {path}: this is not a regular file", "name another file")
        _try_draft(draft_of(path))
    except OSError as error:
        hint = HINTS.get(error.errno or 0, NO_ACCESS)
        raise KlocError(
            f"{option} {path}: no file can be written in {directory}: {error.strerror}", hint
        ) from error


def _try_draft(draft: Path) -> None:
    """Create and remove the file that is written first. Raises OSError if that is impossible.

    Permissions do not tell: nobody can create files in /proc, and names may be too long.
    """
    with suppress(FileExistsError):
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
        draft.unlink()


def keep_old(path: Path) -> None:
    """Keep the file `path`, if there is one, as FILE.old, and print a message about it.

    This happens once: not if this process has called `keep_old` or `continue_file` for it before.
    There is no message after `keep_silently`. Raises OSError if the file cannot be kept.
    """
    resolved = path.resolve()
    if resolved in _ours:
        return
    if path.exists():
        old = path.with_name(path.name + OLD)
        link = draft_of(old)
        link.unlink(missing_ok=True)
        try:
            # So that there is a file `path` at any time.
            link.hardlink_to(path)
            link.rename(old)
        except OSError:
            # Not all file systems have hard links.
            path.rename(old)
        if resolved not in _silent:
            terminal.say(f"{path} existed: it is now {old}")
    _ours.add(resolved)


def continue_file(path: Path) -> None:
    """Let later calls of `keep_old` keep nothing: the content of `path` is taken over."""
    _ours.add(path.resolve())


def keep_silently(path: Path) -> None:
    """Let later calls of `keep_old` print no message about the file `path`."""
    _silent.add(path.resolve())


def _sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path | None, content: Any, indent: int | None = 1) -> None:
    """Write `content` as JSON to `path`, or to stdout if `path` is `-`; do nothing for None.

    Lines are indented by `indent` characters for each level; None writes one line. What was in the
    file is kept as FILE.old. Raises KlocError if the file cannot be written.
    """
    if path is None:
        return
    text = json.dumps(content, indent=indent)
    if str(path) == "-":
        print(text)
    else:
        write_text(path, text + "\n", keep=True)
