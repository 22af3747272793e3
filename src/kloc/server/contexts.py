# SPDX-License-Identifier: GPL-2.0
"""What a kernel with contexts tells of them, on the host that this runs on.

Files of /sys/kernel/mm/kloc (Documentation/ABI/testing/sysfs-kernel-mm-kloc in kernel/files) and
of /sys/kernel/debug/kloc (debugfs-kloc there).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kloc.base.errors import KlocError

ROOT = Path("/")
"""Where the files are looked for; tests have folders of their own."""

SETTINGS = "sys/kernel/mm/kloc"
CONTEXTS = "sys/kernel/debug/kloc/contexts"
CGROUPS = "sys/fs/cgroup"

ALL, CHOSEN = "all", "chosen"
"""Whose files have contexts, as the file scope says."""

NO_LIMIT = "max"

AS_ROOT = "run this as root, with sudo for example"
SWITCH_ON = f"as root: echo 1 > /{SETTINGS}/enabled"


@dataclass(frozen=True)
class Context:
    """A line of the file contexts; `fast` and `slow` are pages."""

    id: int
    kind: str
    active: bool
    age: int
    openers: int
    heat: int
    cpu: int
    fast: int
    slow: int
    dev: str
    ino: int
    path: str | None


@dataclass(frozen=True)
class Mount:
    """A line of mountinfo: the folder `root` of the file system on `dev` is seen at `place`."""

    dev: str
    root: PurePosixPath
    place: PurePosixPath


def check_kernel() -> None:
    """Raise KlocError if the kernel that runs has no contexts."""
    if not (ROOT / SETTINGS / "enabled").exists():
        raise no_contexts()


def no_contexts() -> KlocError:
    """Return the error for a kernel that has no contexts."""
    return KlocError(
        f"this kernel, Linux {os.uname().release}, has no contexts: there is no /{SETTINGS}",
        "boot one with CONFIG_KLOC=y, or look at one in the machine: kloc run --policy kloc -- "
        "kloc status",
    )


def enabled() -> bool:
    """Return whether contexts are switched on."""
    return setting("enabled") == "1"


def setting(name: str) -> str | None:
    """Return what the file of that name says; None if this kernel has none."""
    return _read(ROOT / SETTINGS / name)


def settings() -> dict[str, str]:
    """Return all that can be set, by the file's name."""
    folder = ROOT / SETTINGS
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    values = {name: setting(name) for name in names if name not in ("enabled", "stat")}
    return {name: value for name, value in values.items() if value is not None}


def counts() -> dict[str, int]:
    """Return what the file stat counts."""
    pairs = (line.split() for line in (setting("stat") or "").splitlines())
    return {name: int(value) for name, value in pairs}


def node_limits() -> dict[str, str]:
    """Return how many KiB contexts may have on each node that has a limit of its own."""
    found = {}
    for path in sorted((ROOT / SETTINGS).glob("node*/max_kb"), key=_number):
        value = _read(path)
        if value is not None:
            found[path.parent.name] = value
    return found


def cgroup_limits() -> dict[str, dict[str, str]]:
    """Return the cgroups that have a limit or were chosen: what each says."""
    found = {}
    names = ("enabled", "max", "current")
    for path in sorted((ROOT / CGROUPS).rglob("memory.kloc.max")):
        of = {name: _read(path.with_name(f"memory.kloc.{name}")) for name in names}
        if of["max"] not in (NO_LIMIT, None) or of["enabled"] == "1":
            group = path.parent.relative_to(ROOT / CGROUPS)
            found[f"/{group}"] = {name: value for name, value in of.items() if value is not None}
    return found


def contexts() -> Iterator[Context]:
    """Yield the contexts that there are; KlocError if they cannot be seen."""
    path = ROOT / CONTEXTS
    try:
        with path.open(errors="surrogateescape") as file:
            columns = file.readline().rstrip("\n").split("\t")
            for line in file:
                yield _context(dict(zip(columns, line.rstrip("\n").split("\t"), strict=True)))
    except PermissionError as error:
        raise KlocError(f"only root may read /{CONTEXTS}", AS_ROOT) from error
    except FileNotFoundError as error:
        raise _not_mounted() from error


def _not_mounted() -> KlocError:
    check_kernel()
    message = f"there is no /{CONTEXTS}"
    if (ROOT / "sys/kernel/debug").is_dir() and os.geteuid() != 0:
        return KlocError(message, AS_ROOT)
    return KlocError(
        message,
        "as root: mount -t debugfs debugfs /sys/kernel/debug; if that has no kloc, the kernel "
        "was built without CONFIG_DEBUG_FS",
    )


def _context(columns: Mapping[str, str]) -> Context:
    path = columns["path"]
    return Context(
        id=int(columns["id"]),
        kind=columns["kind"],
        active=columns["active"] == "1",
        age=int(columns["age"]),
        openers=int(columns["openers"]),
        heat=int(columns["heat"]),
        cpu=int(columns["cpu"]),
        fast=int(columns["fast"]),
        slow=int(columns["slow"]),
        dev=columns["dev"],
        ino=int(columns["ino"]),
        path=None if path == "-" else unescaped(path),
    )


def mounts() -> list[Mount]:
    """Return what is mounted where, as this process sees it."""
    text = (ROOT / "proc/self/mountinfo").read_text(errors="surrogateescape")
    lines = (line.split(" ") for line in text.splitlines())
    return [
        Mount(fields[2], PurePosixPath(unescaped(fields[3])), PurePosixPath(unescaped(fields[4])))
        for fields in lines
    ]


def place(context: Context, mounted: list[Mount]) -> str:
    """Return where a person finds what the context is of.

    That is its path; its device and its path there if that device is not mounted in sight.
    """
    if context.kind == "blockdev":
        return f"/dev/{device(context.dev)}"
    if context.path is None:
        return f"{device(context.dev)}:inode {context.ino}"
    inside = PurePosixPath(context.path)
    seen = [
        each for each in mounted if each.dev == context.dev and inside.is_relative_to(each.root)
    ]
    if not seen:
        return f"{device(context.dev)}:{context.path}"
    # The whole file system if it is mounted anywhere, and not a part of it elsewhere.
    best = min(seen, key=lambda each: len(each.root.parts))
    return str(best.place / inside.relative_to(best.root))


def device(number: str) -> str:
    """Return the name of the block device major:minor, or the numbers where it has none."""
    try:
        return (ROOT / "sys/dev/block" / number).readlink().name
    except OSError:
        return number


def unescaped(text: str) -> str:
    r"""Return the text with its octal escapes (`\040`) as the characters that they are."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _number(path: Path) -> int:
    return int(re.sub(r"\D", "", path.parent.name) or 0)
