# SPDX-License-Identifier: GPL-2.0
"""Reads files of the running kernel."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")
"""The directory that all paths are relative to; tests set another one."""

AS_ROOT = "run this command as root, for example with sudo"


def read(path: str | Path) -> str | None:
    """Return a file's text without surrounding blanks, None if it cannot be read."""
    try:
        return (ROOT / path).read_text().strip()
    except OSError:
        return None
