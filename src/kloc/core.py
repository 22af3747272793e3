# SPDX-License-Identifier: GPL-2.0
"""A core of the host for each machine.

QEMU's own two threads share it: nothing that they do depends on whether they run side by side.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kloc import cache


@contextmanager
def held() -> Iterator[int]:
    """Give the block a core of those that this process may use: one that no machine has, if any."""
    folder = cache.folder() / "cores"
    folder.mkdir(parents=True, exist_ok=True)
    usable = sorted(os.sched_getaffinity(0))
    for core in usable:
        with (folder / str(core)).open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield core
            return
    yield usable[os.getpid() % len(usable)]
