# SPDX-License-Identifier: GPL-2.0
"""Made-up files of /proc on pages: kpageflags, and smaps and pagemap of processes."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kloc.heat import processes
from kloc.schemes import damon

PAGE = 4096
PIECE = 512
"""Page frames in 2 MiB."""

# Bits of include/uapi/linux/kernel-page-flags.h.
LRU, SLAB, BUDDY, MMAP, ANON, SWAPBACKED = 1 << 5, 1 << 7, 1 << 10, 1 << 11, 1 << 12, 1 << 14
HEAD, TAIL, HUGETLB, THP = 1 << 15, 1 << 16, 1 << 17, 1 << 22

ANONYMOUS, FILE, SHARED = LRU | MMAP | ANON | SWAPBACKED, LRU | MMAP, LRU | MMAP | SWAPBACKED

PRESENT, SWAPPED = 1 << 63, 1 << 62


def huge(flags: int) -> list[int]:
    """Return the flags of the frames of a huge page."""
    return [flags | THP | HEAD, *[flags | THP | TAIL] * (PIECE - 1)]


class FakePages:
    """/proc below `root`."""

    def __init__(self, root: Path) -> None:
        self.proc = root / "proc"
        self.proc.mkdir(exist_ok=True)

    def set_flags(self, flags: Sequence[int]) -> None:
        """Set the flags of all page frames."""
        (self.proc / "kpageflags").write_bytes(struct.pack(f"={len(flags)}Q", *flags))

    def add_process(self, pid: int, mapped: Mapping[int, Sequence[int | None]]) -> None:
        """Add a process: the page frames of its mappings by the number of their first page.

        None is a page that is not in memory.
        """
        folder = self.proc / str(pid)
        folder.mkdir()
        lines, pagemap = [], {}
        for first, frames in mapped.items():
            resident = sum(frame is not None for frame in frames)
            end = (first + len(frames)) * PAGE
            lines += [
                f"{first * PAGE:x}-{end:x} rw-p 00000000 00:00 0          [heap]",
                f"Size: {4 * len(frames):15} kB",
                f"Rss: {4 * resident:16} kB",
                "VmFlags: rd wr mr mw me ac",
            ]
            for number, frame in enumerate(frames, first):
                pagemap[number] = SWAPPED if frame is None else PRESENT | frame
        pages = 1 + max(pagemap, default=-1)
        entries = [pagemap.get(number, 0) for number in range(pages)]
        (folder / "smaps").write_text("\n".join([*lines, ""]))
        (folder / "maps").write_text("".join(f"{line}\n" for line in lines if "-" in line[:20]))
        (folder / "pagemap").write_bytes(struct.pack(f"={pages}Q", *entries))
        (folder / "statm").write_text(f"{pages} {len(pagemap)} 1 1 0 1 0\n")
        (folder / "comm").write_text(f"made-up-{pid}\n")
        (folder / "stat").write_text(f"{pid} (made-up) S 1 1 1\n")


def install(monkeypatch: Any, root: Path) -> FakePages:
    """Let kloc read made-up files of /proc below `root`."""
    fake = FakePages(root)
    monkeypatch.setattr(damon, "ROOT", root)
    monkeypatch.setattr(processes, "PROC", fake.proc)
    return fake
