# SPDX-License-Identifier: GPL-2.0
"""Reads the contexts of the running kernel, whose files get them, and their limits.

The files are those of /sys/kernel/mm/kloc and /sys/kernel/debug/kloc; sysfs-kernel-mm-kloc and
debugfs-kloc in kernel/files/Documentation/ABI/testing describe them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kloc.base.errors import KlocError
from kloc.server import system, tiering
from kloc.server.system import AS_ROOT, read

SETTINGS = "sys/kernel/mm/kloc"
LIMITS = "sys/kernel/mm/tiering"
CONTEXTS = "sys/kernel/debug/kloc/contexts"
CGROUPS = "sys/fs/cgroup"
HAS_CONTEXTS = f"{tiering.FOLDER}/has_contexts"

ALL, CHOSEN = "all", "chosen"
"""The values of the setting `scope`: which processes' files get contexts."""

NO_LIMIT = "max"

HOW_TO_SELECT = f"as root: echo kloc > /{tiering.POLICY}"


@dataclass(frozen=True)
class Context:
    """One line of the file `contexts`; `fast` and `slow` are pages."""

    id: int
    kind: str
    active: bool
    age: int
    open: bool
    cpu: int
    fast: int
    slow: int
    dev: str
    ino: int
    path: str | None


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo: directory `root` of the file system on `dev` is mounted at `point`."""

    dev: str
    root: PurePosixPath
    point: PurePosixPath


def exist() -> bool:
    """Return whether files have contexts under the selected policy."""
    return read(HAS_CONTEXTS) == "1"


def missing() -> str:
    """Return the message that the selected policy has no contexts."""
    return f"the selected policy, {tiering.selected()}, has no contexts"


def scope() -> str:
    """Return whose files get contexts: ALL or CHOSEN."""
    return read(f"{SETTINGS}/scope") or ALL


def kinds() -> list[str]:
    """Return the kinds of contexts that are placed and moved."""
    return (read(f"{SETTINGS}/kinds") or "").split()


def read_figure(name: str) -> int:
    """Return the number in a file of SETTINGS, 0 if this kernel does not have it."""
    return int(read(f"{SETTINGS}/{name}") or 0)


def read_node_limits() -> dict[str, str]:
    """Return the limit of each fast node by its name: KiB of page cache, or NO_LIMIT."""
    limits = {}
    for path in sorted((system.ROOT / LIMITS).glob("node*/max_kb"), key=_node_number):
        value = read(path)
        if value is not None:
            limits[path.parent.name] = value
    return limits


def read_cgroup_limits() -> dict[str, dict[str, str]]:
    """Return `enabled`, `max` and `current` of each cgroup that has a limit or is chosen."""
    limits = {}
    names = ("enabled", "max", "current")
    for path in sorted((system.ROOT / CGROUPS).rglob("memory.kloc.max")):
        values = {name: read(path.with_name(f"memory.kloc.{name}")) for name in names}
        if values["max"] not in (NO_LIMIT, None) or values["enabled"] == "1":
            cgroup = path.parent.relative_to(system.ROOT / CGROUPS)
            limits[f"/{cgroup}"] = {
                name: value for name, value in values.items() if value is not None
            }
    return limits


def read_contexts() -> Iterator[Context]:
    """Yield all contexts. Raises KlocError if they cannot be read."""
    path = system.ROOT / CONTEXTS
    try:
        with path.open(errors="surrogateescape") as file:
            columns = file.readline().rstrip("\n").split("\t")
            for line in file:
                yield _parse_context(dict(zip(columns, line.rstrip("\n").split("\t"), strict=True)))
    except PermissionError as error:
        raise KlocError(f"only root may read /{CONTEXTS}", AS_ROOT) from error
    except FileNotFoundError as error:
        raise tiering.missing_in_debugfs(CONTEXTS) from error


def totals_by_kind() -> dict[str, Counter[str]]:
    """Return the number of contexts, how many are active, and their pages, by kind of context.

    Raises KlocError if they cannot be read.
    """
    kinds: dict[str, Counter[str]] = {}
    for context in read_contexts():
        totals = kinds.setdefault(context.kind, Counter(number=0, active=0, fast=0, slow=0))
        totals.update(number=1, active=int(context.active), fast=context.fast, slow=context.slow)
    return dict(sorted(kinds.items()))


def _parse_context(columns: Mapping[str, str]) -> Context:
    path = columns["path"]
    return Context(
        id=int(columns["id"]),
        kind=columns["kind"],
        active=columns["active"] == "1",
        age=int(columns["age"]),
        open=columns["open"] == "1",
        cpu=int(columns["cpu"]),
        fast=int(columns["fast"]),
        slow=int(columns["slow"]),
        dev=columns["dev"],
        ino=int(columns["ino"]),
        path=None if path == "-" else unescape(path),
    )


def read_mounts() -> list[Mount]:
    """Return all mounts that this process sees."""
    text = (system.ROOT / "proc/self/mountinfo").read_text(errors="surrogateescape")
    lines = (line.split(" ") for line in text.splitlines())
    return [
        Mount(fields[2], PurePosixPath(unescape(fields[3])), PurePosixPath(unescape(fields[4])))
        for fields in lines
    ]


def visible_path(context: Context, mounts: Sequence[Mount]) -> str:
    """Return where the user finds a context's file or block device.

    This is its path below a mount point. If the file system is not mounted, it is the name of the
    device with the path on it: "sdc1:/file". If no path is known, it is the inode's number:
    "sdc1:inode 12".
    """
    if context.kind == "blockdev":
        return f"/dev/{device_name(context.dev)}"
    if context.path is None:
        return f"{device_name(context.dev)}:inode {context.ino}"
    inside = PurePosixPath(context.path)
    candidates = [
        mount for mount in mounts if mount.dev == context.dev and inside.is_relative_to(mount.root)
    ]
    if not candidates:
        return f"{device_name(context.dev)}:{context.path}"
    # A mount of the complete file system is preferred to a bind mount of one of its directories.
    best = min(candidates, key=lambda mount: len(mount.root.parts))
    return str(best.point / inside.relative_to(best.root))


def device_name(number: str) -> str:
    """Return the name of the block device "major:minor", or `number` itself if it has none."""
    try:
        return (system.ROOT / "sys/dev/block" / number).readlink().name
    except OSError:
        return number


def unescape(text: str) -> str:
    r"""Return the text with each octal escape (`\040`) replaced by its character."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _node_number(path: Path) -> int:
    return int(re.sub(r"\D", "", path.parent.name) or 0)
