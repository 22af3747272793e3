# SPDX-License-Identifier: GPL-2.0
"""Compares text that users see with the copies in tests/golden."""

from __future__ import annotations

import difflib
import io
import os
from pathlib import Path

from rich.console import Console, RenderableType

from kloc.base.paths import PROJECT

DIRECTORY = PROJECT / "tests/golden"

UPDATE = "KLOC_UPDATE_GOLDEN"
"""`./kloc test --update-golden` sets this environment variable to 1."""

COMMAND = "./kloc test --update-golden"


def check(name: str, text: str, directory: Path = DIRECTORY, suffix: str = ".txt") -> None:
    """Compare `text` with `name`.txt in `directory`; in update mode, write it there instead.

    `suffix` is another one of the file. Spaces at the ends of lines are ignored, because Rich pads
    its tables with them.
    """
    path = directory / f"{name}{suffix}"
    lines = [line.rstrip() + "\n" for line in text.splitlines()]
    if os.environ.get(UPDATE) == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")
        return
    shown = path.relative_to(PROJECT)
    assert path.exists(), f"{shown} does not exist: run `{COMMAND}`, then review the new file"
    golden = path.read_text(encoding="utf-8").splitlines(keepends=True)
    diff = "".join(difflib.unified_diff(golden, lines, str(shown), "this run"))
    assert not diff, f"{diff}\nIf the change is intended, run `{COMMAND}` and review the diff."


def printed(*renderables: RenderableType, width: int = 80) -> str:
    """Return what Rich prints into a file, in lines of `width` characters."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=False, color_system=None)
    console.print(*renderables, sep="\n")
    return file.getvalue()
