# SPDX-License-Identifier: GPL-2.0
"""A minimal kernel/ directory for tests of what is built from it."""

from __future__ import annotations

from pathlib import Path


def overlay(directory: Path, series: str = "", patches: dict[str, str] | None = None) -> Path:
    """Make `directory`/kernel with one new file, a series file and patches, and return it.

    `patches` maps the name of each patch to its text.
    """
    kernel = directory / "kernel"
    (kernel / "files" / "mm").mkdir(parents=True)
    (kernel / "files" / "mm" / "new.c").write_text("new\n")
    (kernel / "patches").mkdir()
    for name, text in {"series": series, **(patches or {})}.items():
        (kernel / "patches" / name).write_text(text)
    return kernel
