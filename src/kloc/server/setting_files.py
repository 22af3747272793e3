# SPDX-License-Identifier: GPL-2.0
"""Finds settings of kloc.toml that the kernel does not have, and which ones are meant.

The files of kloc's kernel are known from its documentation, which comes with kloc, so that they can
be checked under another kernel, too. All others are those of the running kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kloc.base import paths
from kloc.base.errors import closest
from kloc.server import contexts, system, tiering

ABI = ("kernel", "files", "Documentation", "ABI", "testing")
"""Where the documentation of kloc's kernel describes its files."""

OWN = (f"/{tiering.FOLDER}", f"/{contexts.SETTINGS}")
"""The directories of kloc's kernel."""

DEBUGFS = "/sys/kernel/debug"


def problem(path: str) -> str | None:
    """Return that a file does not exist, and a similar name; None if it may exist."""
    if system.exists(path) or is_hidden(path):
        return None
    for directory in OWN:
        if path.startswith(f"{directory}/"):
            name, known = path.removeprefix(f"{directory}/"), [*_documented(directory)]
            if not known or any(re.fullmatch(_pattern(one), name) for one in known):
                return None
            return f"kloc's kernel has no {path}{_guess(directory, name, known)}"
    directory, name = _first_missing(path)
    return f"this kernel has no {directory}/{name}{guess(path)}"


def guess(path: str) -> str:
    """Return the name that a file which does not exist is meant to have, as ", did you mean"."""
    directory, name = _first_missing(path)
    return _guess(directory, name, _listed(directory) or ())


def is_hidden(path: str) -> bool:
    """Return whether this process cannot tell if a file exists."""
    if system.exists(path):
        return False
    directory, _ = _first_missing(path)
    listed = _listed(directory)
    # Debugfs is empty where it is not mounted.
    return listed is None or (directory == DEBUGFS and not listed)


def _documented(directory: str) -> Iterator[str]:
    """Yield the files in a directory of kloc's kernel, with placeholders such as node<N>."""
    for file in sorted(paths.shipped(*ABI).glob("sysfs-*")):
        yield from re.findall(rf"^What:\s+{directory}/(\S+)$", file.read_text(), re.M)


def _pattern(name: str) -> str:
    return re.sub(r"<\w+>", r"\\w+", name.replace("<N>", r"\d+"))


def _first_missing(path: str) -> tuple[str, str]:
    """Return the last directory on a path that exists, and the name in it that does not."""
    directory, _, name = path.rpartition("/")
    while directory and not system.exists(directory):
        directory, _, name = directory.rpartition("/")
    return directory, name


def _listed(directory: str) -> list[str] | None:
    """Return the names in a directory, None if this user may not read it."""
    try:
        return sorted(entry.name for entry in system.path_of(directory).iterdir())
    except PermissionError:
        return None
    except OSError:
        return []


def _guess(directory: str, name: str, known: Sequence[str]) -> str:
    similar = closest(name, known)
    return f", did you mean {directory}/{similar}?" if similar else ""
