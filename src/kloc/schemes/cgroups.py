# SPDX-License-Identifier: GPL-2.0
"""The cgroups that schemes (`memcg=PATH`) and options name, as DAMON knows them.

DAMON compares a path with those below the root of the hierarchy that has the memory controller,
letter by letter. For one that it does not find it reports that there is no memory.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kloc.base import unit_cgroups
from kloc.base.errors import KlocError
from kloc.schemes import damon
from kloc.schemes.scheme import Filter, Scheme

MOUNTS = "/proc/self/mounts"


def resolved(schemes: Sequence[Scheme]) -> list[Scheme]:
    """Return the schemes with the paths of cgroups as DAMON compares them.

    A path may begin with the directory where cgroups are mounted; the name of a unit stands for its
    path. Raises KlocError if a cgroup does not exist, or has no memory controller.
    """
    return [replace(one, filters=tuple(map(_resolved, one.filters))) for one in schemes]


def folder(text: str) -> Path:
    """Return the directory of a cgroup, named like those of schemes.

    Raises KlocError if it does not exist, or if several units have the name.
    """
    mount, path = _located(text)
    return damon.path_of(f"{mount}{path}")


def processes(cgroup: Path) -> list[int]:
    """Return the processes of a cgroup and of those below it, by its directory.

    A cgroup may be removed at any time; then it has none.
    """
    found: list[int] = []
    for path in (cgroup / "cgroup.procs", *cgroup.glob("**/*/cgroup.procs")):
        with suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def _resolved(one: Filter) -> Filter:
    return replace(one, value=_path(str(one.value))) if one.kind == "memcg" else one


def _located(text: str) -> tuple[str, str]:
    """Return where cgroups are mounted, and the path of a cgroup below that."""
    mount = _mount()
    path = posixpath.normpath(f"/{text.strip('/')}")
    if path == mount or path.startswith(f"{mount}/"):
        path = path.removeprefix(mount) or "/"
    # A path may lack its slash: init.scope, which users' managers have below their own, too.
    if "/" not in text and not damon.path_of(f"{mount}{path}").is_dir():
        path = unit_cgroups.path_of(damon.path_of(mount), text)
    if not damon.path_of(f"{mount}{path}").is_dir():
        raise KlocError(
            f"there is no cgroup {path}: {mount}{path} does not exist",
            f"name an existing one by its path below {mount}, such as /system.slice, or by the "
            "name of its unit; systemd-cgls lists cgroups",
        )
    return mount, path


def _path(text: str) -> str:
    """Return the path of a cgroup that has a memory controller."""
    mount, path = _located(text)
    if not (damon.path_of(f"{mount}{path}") / "memory.stat").exists() and path != "/":
        parent = posixpath.dirname(path).rstrip("/")
        raise KlocError(
            f"cgroup {path} has no memory controller, so that no memory counts for it",
            f"as root: echo +memory > {mount}{parent}/cgroup.subtree_control",
        )
    return path


def _mount() -> str:
    """Return where the cgroups are mounted that have the memory controller."""
    found: dict[str, str] = {}
    for line in damon.path_of(MOUNTS).read_text().splitlines():
        _, point, kind, options, *_ = line.split(" ")
        if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(",")):
            found.setdefault(kind, point)
    if not found:
        raise KlocError(
            "no cgroups are mounted", "as root: mount -t cgroup2 cgroup2 /sys/fs/cgroup"
        )
    # If both are, the controller is in the first version, which is mounted for it.
    return found.get("cgroup") or found["cgroup2"]
