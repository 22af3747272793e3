# SPDX-License-Identifier: GPL-2.0
"""Reads which policy of memory tiers the running kernel has selected, its settings and its counts.

The files are those of /sys/kernel/mm/tiering; sysfs-kernel-mm-tiering in
kernel/files/Documentation/ABI/testing describes them.
"""

from __future__ import annotations

import os

from kloc.base import paths
from kloc.base.errors import KlocError
from kloc.server import system
from kloc.server.system import AS_ROOT, read

FOLDER = "sys/kernel/mm/tiering"
POLICY = f"{FOLDER}/policy"
STATS = f"{FOLDER}/stats"

NONE = "none"
"""The policy that is selected at boot: without tiering."""

COMMON = ("scan_us", "rate_mbps", "pin")
"""The settings that all policies have."""

REASONS = {
    "demoted": ("inactive", "unused", "old", "random", "limit", "pair", "cold"),
    "promoted": ("active", "used", "hint"),
    "not_moved": ("pinned", "busy", "unmovable", "limit", "protected", "failed"),
    "placed": ("fast", "slow", "elsewhere"),
}
"""The counts of pages that the kernel has today, GROUP_REASON, in the order to show them."""

FREED, RETURNED = "freed", "returned"
"""What is added to the names of counts of moves, for pages that were freed or moved back soon."""


def check_kernel() -> None:
    """Raise KlocError if the running kernel has no policies of memory tiers."""
    if not (system.ROOT / POLICY).exists():
        get = "boot kloc's kernel, which kloc kernel package makes in a checkout of the project"
        if paths.has_laboratory():
            # A package for servers has no machine to try it in.
            get += ", or try it in the machine: kloc run --policy kloc --with-kloc -- kloc status"
        raise KlocError(
            f"this kernel, Linux {os.uname().release}, has no policies of memory tiers: "
            f"/{FOLDER} does not exist",
            get,
        )


def missing_in_debugfs(path: str) -> KlocError:
    """Return the error that says why debugfs has no file `path` of a kernel with policies.

    Raises KlocError if the kernel has none.
    """
    check_kernel()
    message = f"/{path} does not exist"
    # Only root can see what a mounted debugfs contains.
    if (system.ROOT / "sys/kernel/debug").is_dir() and os.geteuid() != 0:
        return KlocError(message, AS_ROOT)
    return KlocError(
        message,
        "as root: mount -t debugfs debugfs /sys/kernel/debug; if debugfs is mounted already, "
        "the kernel was built without CONFIG_DEBUG_FS",
    )


def selected() -> str:
    """Return the name of the selected policy."""
    return read(POLICY) or NONE


def names() -> list[str]:
    """Return the names of all policies that the kernel has."""
    return (read(f"{FOLDER}/policies") or "").split()


def read_settings() -> dict[str, str]:
    """Return the settings by file name: those of all policies, then those of single ones.

    The latter are called POLICY/SETTING.
    """
    own = (path.relative_to(system.ROOT / FOLDER) for path in (system.ROOT / FOLDER).glob("*/*"))
    files = [*COMMON, *sorted(str(path) for path in own if path.parts[0] in names())]
    values = {name: read(f"{FOLDER}/{name}") for name in files}
    return {name: value for name, value in values.items() if value is not None}


def read_page_bytes() -> int:
    """Return the bytes of memory that take what is known of single pages."""
    return int(read(f"{FOLDER}/page_bytes") or 0)


def read_counts() -> dict[str, dict[str, int]]:
    """Return the counts of pages since boot: by kind of pages, and by the name of the count."""
    counts: dict[str, dict[str, int]] = {}
    for path in sorted((system.ROOT / STATS).glob("*/*")):
        if value := read(path):
            counts.setdefault(path.parent.name, {})[path.name] = int(value)
    return counts
