# SPDX-License-Identifier: GPL-2.0
"""Finds the cgroups of systemd's units by the units' names."""

from __future__ import annotations

import glob
from pathlib import Path

from kloc.base.errors import KlocError


def path_of(root: Path, name: str) -> str:
    """Return the path, below `root`, of the cgroup that is called `name`.

    It is "/NAME" if there is none: the caller says what does not exist. Raises KlocError if there
    are several.
    """
    found = sorted(one for one in root.rglob(glob.escape(name)) if one.is_dir()) if name else []
    if len(found) > 1:
        listed = ", ".join(f"/{one.relative_to(root)}" for one in found)
        raise KlocError(f"{len(found)} cgroups are called {name}: {listed}", "name one path")
    return f"/{found[0].relative_to(root)}" if found else f"/{name}"
