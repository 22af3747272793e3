# SPDX-License-Identifier: GPL-2.0
"""Finds memory cgroups by their paths, or by the names of their units."""

from __future__ import annotations

from kloc.base import unit_cgroups
from kloc.base.errors import KlocError
from kloc.server import contexts, system
from kloc.server.system import read

OWN = "."
"""Stands for the cgroup that this process is in."""

ENABLED, MAX = "memory.kloc.enabled", "memory.kloc.max"
"""The files of a cgroup: whether it is chosen, and its limit of page cache in fast memory."""

LISTED = "systemd-cgls lists cgroups"


def find(name: str) -> str:
    """Return the path of a cgroup below the root of all cgroups: /system.slice/mysql.service.

    `name` is such a path, also with /sys/fs/cgroup before it, the name of a unit, or OWN. Raises
    KlocError if there is no such cgroup, or if several units have the name.
    """
    root = system.ROOT / contexts.CGROUPS
    if not (root / "cgroup.controllers").exists():
        raise KlocError(
            f"/{contexts.CGROUPS} is no hierarchy of cgroup v2",
            "boot with systemd.unified_cgroup_hierarchy=1, or mount -t cgroup2 cgroup2 "
            f"/{contexts.CGROUPS}",
        )
    if name == OWN:
        path = _own()
    elif "/" in name:
        path = "/" + name.removeprefix(f"/{contexts.CGROUPS}").strip("/")
    else:
        path = unit_cgroups.path_of(root, name)
    if ".." in path.split("/") or not (root / path.strip("/")).is_dir():
        raise KlocError(f"there is no cgroup {name}", LISTED)
    return path


def file(path: str, name: str) -> str:
    """Return the absolute path of a cgroup's file. Raises KlocError if it does not exist."""
    result = f"/{contexts.CGROUPS}{path.rstrip('/')}/{name}"
    if not system.path_of(result).exists():
        parent = path.rpartition("/")[0] or "/"
        raise KlocError(
            f"{result} does not exist",
            "the kernel has no contexts, or the memory controller is off for this cgroup: for a "
            f"unit, set MemoryAccounting=yes; else echo +memory > /{contexts.CGROUPS}"
            f"{parent.rstrip('/')}/cgroup.subtree_control",
        )
    return result


def _own() -> str:
    """Return the cgroup of this process."""
    for line in (read("proc/self/cgroup") or "").splitlines():
        if line.startswith("0::"):
            return line.removeprefix("0::")
    return "/"
