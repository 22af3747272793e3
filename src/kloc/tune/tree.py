# SPDX-License-Identifier: GPL-2.0
"""The memory and the CPU time of a process and its descendants."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kloc.base.errors import KlocError

if TYPE_CHECKING:
    import psutil


class Tree:
    """A process and its descendants. Processes that come and go meanwhile are no error."""

    def __init__(self, pid: int) -> None:
        """Raise KlocError if the process does not exist."""
        import psutil

        try:
            self._root = psutil.Process(pid)
        except psutil.NoSuchProcess as error:
            raise KlocError(f"process {pid} does not exist", "ps -e lists the processes") from error
        # Of processes that have ended, the last that was seen.
        self._seconds: dict[tuple[int, float], float] = {}

    def alive(self) -> bool:
        """Return whether the process itself still runs."""
        import psutil

        with suppress(psutil.Error):
            return bool(self._root.is_running() and self._root.status() != psutil.STATUS_ZOMBIE)
        return False

    def pids(self) -> list[int]:
        """Return the pids of all processes of the tree, the first one's first."""
        return [process.pid for process in self._processes()]

    def memory(self) -> int:
        """Return the resident memory in bytes.

        It is the sum of the PSS, which counts memory that processes share once; of processes whose
        PSS may not be read, it is the RSS.
        """
        return self.read()[1]

    def read(self) -> tuple[list[int], int]:
        """Return what `pids` and `memory` return, from one walk over the tree."""
        processes = self._processes()
        return [process.pid for process in processes], sum(map(_memory, processes))

    def user_seconds(self) -> float:
        """Return the CPU time that all processes, ended ones too, spent in user mode."""
        import psutil

        for process in self._processes():
            with suppress(psutil.Error):
                key = (process.pid, process.create_time())
                self._seconds[key] = process.cpu_times().user
        return sum(self._seconds.values())

    def _processes(self) -> list[psutil.Process]:
        import psutil

        with suppress(psutil.Error):
            return [self._root, *self._root.children(recursive=True)]
        return []


def _memory(process: psutil.Process) -> int:
    import psutil

    with suppress(psutil.Error):
        return int(process.memory_full_info().pss)
    with suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0
