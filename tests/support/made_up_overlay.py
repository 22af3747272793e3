# SPDX-License-Identifier: GPL-2.0
"""A kernel/ of next to nothing, for the tests of what is made of it."""

from __future__ import annotations

from pathlib import Path


def overlay(folder: Path, series: str = "", patches: dict[str, str] | None = None) -> Path:
    """Return `folder`/kernel with one new file, this series, and these patches by their name."""
    made = folder / "kernel"
    (made / "files" / "mm").mkdir(parents=True)
    (made / "files" / "mm" / "new.c").write_text("new\n")
    (made / "patches").mkdir()
    for name, text in {"series": series, **(patches or {})}.items():
        (made / "patches" / name).write_text(text)
    return made
