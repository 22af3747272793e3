# SPDX-License-Identifier: GPL-2.0
"""The processes of a tree, from /proc."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")

ADDRESS_MAX = 1 << 63
"""Above are the kernel's addresses, of which a process has a page."""

MOST = 32
"""The most processes that are monitored at once."""


def tree(pid: int) -> list[int]:
    """Return the pids of a process and its descendants that have not ended; it comes first.

    Kernels without CONFIG_PROC_CHILDREN have only the process itself.
    """
    found, pending = [], [pid]
    while pending:
        one = pending.pop()
        if is_running(one):
            found.append(one)
            pending += _children(one)
    return found


def is_running(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    with suppress(OSError):
        # The name may have blanks and parentheses.
        state = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
        return state not in ("Z", "X")
    return False


def name(pid: int) -> str:
    """Return the name of a process, "" if it has ended."""
    with suppress(OSError):
        return (PROC / str(pid) / "comm").read_text().strip()
    return ""


def resident(pid: int) -> int:
    """Return the memory of a process that is mapped now, in pages; 0 if it has ended."""
    with suppress(OSError):
        return int((PROC / str(pid) / "statm").read_text().split()[1])
    return 0


def mapped(pid: int) -> list[tuple[int, int]]:
    """Return the ranges of addresses that a process has mapped, none if it has ended.

    Ranges without any access right are left out: they only reserve addresses.
    """
    with suppress(OSError):
        return parse_maps((PROC / str(pid) / "maps").read_text().splitlines())
    return []


def parse_maps(lines: Iterable[str]) -> list[tuple[int, int]]:
    """Return the ranges in lines of /proc/PID/maps."""
    found = []
    for line in lines:
        addresses, rights = line.split(maxsplit=2)[:2]
        start, end = (int(address, 16) for address in addresses.split("-"))
        if not rights.startswith("---") and end <= ADDRESS_MAX:
            found.append((start, end))
    return found


def in_order(known: list[int], running: list[int]) -> list[int]:
    """Return the running processes, known ones in their order, then new ones; at most MOST."""
    kept = [pid for pid in known if pid in running]
    return [*kept, *(pid for pid in running if pid not in kept)][:MOST]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for path in (PROC / str(pid) / "task").glob("*/children"):
            with suppress(OSError):
                found += map(int, path.read_text().split())
    return found
