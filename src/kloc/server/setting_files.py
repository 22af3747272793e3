# SPDX-License-Identifier: GPL-2.0
"""Checks that the kernel has the files that kloc.toml sets, and suggests similar names.

The files of kloc's kernel are known from its documentation, which comes with kloc, so that they can
be checked under another kernel, too. Other files are those of the running kernel.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence

from kloc.base import paths
from kloc.base.errors import closest
from kloc.server import contexts, system, tiering

ABI = ("kernel", "files", "Documentation", "ABI", "testing")
"""Where the documentation of kloc's kernel describes its files."""

OWN = (f"/{tiering.FOLDER}", f"/{contexts.SETTINGS}")
"""The directories of kloc's kernel."""

DEBUGFS = "/sys/kernel/debug/"
"""Where settings are that a server may do without."""

WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
"""The permissions that files have that can be set."""

LATER = (
    *("/sys/block/", "/sys/bus/", "/sys/class/", "/sys/devices/"),
    *("/sys/fs/", "/sys/module/", "/proc/sys/net/"),
)
"""Directories whose files come and go with modules, devices, mounts and cgroups."""


def problem(path: str) -> str | None:
    """Return the error for a file that no kernel has, with a similar name; None if it may exist."""
    if system.exists(path):
        return _unwritable(path)
    if doubt(path) is not None:
        return None
    for directory in OWN:
        if path.startswith(f"{directory}/"):
            name, known = path.removeprefix(f"{directory}/"), [*_documented(directory)]
            if not known or any(re.fullmatch(_pattern(one), name) for one in known):
                return None
            return f"kloc's kernel has no {path}{_guess(directory, name, known)}"
    directory, name = _first_missing(path)
    return f"this kernel has no {directory}/{name}{guess(path)}"


def doubt(path: str) -> str | None:
    """Return why a file that does not exist for this process may exist for `kloc on`, else None."""
    if system.exists(path):
        return None
    if is_hidden(path):
        return "only root can check this setting, with debugfs mounted"
    if path.startswith(LATER):
        return f"kloc on needs this file, which does not exist now{guess(path)}"
    return None


def guess(path: str) -> str:
    """Return ", did you mean" and a name similar to a file that does not exist, "" without one."""
    directory, name = _first_missing(path)
    return _guess(directory, name, _listed(directory) or ())


def is_hidden(path: str) -> bool:
    """Return whether this process cannot see the directory of a file."""
    if system.exists(path):
        return False
    directory, _ = _first_missing(path)
    listed = _listed(directory)
    # Debugfs is empty where it is not mounted.
    return listed is None or (f"{directory}/" == DEBUGFS and not listed)


def _unwritable(path: str) -> str | None:
    """Return why nobody can write to a path that exists; None if root can."""
    mode = system.path_of(path).stat().st_mode
    if stat.S_ISDIR(mode):
        return f"{path} is a directory"
    return None if mode & WRITABLE else f"{path} can only be read"


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
