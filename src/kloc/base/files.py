# SPDX-License-Identifier: GPL-2.0
"""Writes files atomically: a reader sees the old content or the new, never a part of it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from kloc.base.errors import HINTS, KlocError


def write_text(path: Path, text: str) -> None:
    """Replace the content of `path` with `text`, and wait until it is on the disk.

    On failure, on a full disk for example, `path` keeps its content; so it does if this process is
    killed, or the host loses power, before the end. Characters that UTF-8 cannot
    encode are written as XML character references. Raises KlocError if the file cannot be written.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")
        _sync(draft)
        draft.rename(path)
        _sync(path.absolute().parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        hint = HINTS.get(error.errno or 0)
        raise KlocError(f"cannot write {path}: {error.strerror}", hint) from error


def _sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path | None, content: Any, indent: int | None = 1) -> None:
    """Write `content` as JSON to `path`, or to stdout if `path` is `-`; do nothing for None.

    Lines are indented by `indent` characters for each level; None writes one line.

    Raises KlocError if the file cannot be written.
    """
    if path is None:
        return
    text = json.dumps(content, indent=indent)
    if str(path) == "-":
        print(text)
    else:
        write_text(path, text + "\n")
