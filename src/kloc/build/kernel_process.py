# SPDX-License-Identifier: GPL-2.0
"""Builds the machine's kernel in a process of its own, while this one builds the other parts.

The kernel takes far longer than all other parts together. The process is another kloc, which
executes `kloc kernel build` with the same cache: its locks let one process build an entry, and the
others wait for it. So nothing depends on this process. If it fails, the next call of
`kernel.build` tries again, and has the error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kloc.base import cache, paths, progress, terminal
from kloc.build import kernel

POLL_SECONDS = 0.2

WITH_PARENT = ("setpriv", "--pdeathsig", "TERM")
"""Ends the process like Ctrl-C if this one is killed, so that no compiler is left running."""


@contextmanager
def building() -> Iterator[None]:
    """Build the kernel, if the cache lacks it, while the block runs; wait for it at the end.

    The tool root has to be there. If the block raises an exception, such as KeyboardInterrupt, the
    build is stopped: the next one continues with the objects that it has compiled.
    """
    if not kernel.is_missing() or not cache.is_writable():
        yield
        return
    process = _Process()
    try:
        yield
        process.wait()
    finally:
        process.stop()


class _Process:
    """The other kloc, and the last line that it has printed about its progress."""

    def __init__(self) -> None:
        """Start it. Its own process group keeps it from the terminal's Ctrl-C: `stop` is enough."""
        kloc = [sys.executable, "-P", "-m", "kloc", "--cache", str(cache.directory())]
        argv = [*WITH_PARENT, *kloc, "kernel", "build"]
        terminal.command_line(argv)
        self._process = subprocess.Popen(
            argv,
            env={**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        )
        self._line = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self) -> None:
        """Show its progress until it has ended, well or not."""
        with progress.shown("building the kernel") as bar:
            while self._process.poll() is None:
                description, _, share = self._line.rpartition(": ")
                if description:
                    bar.description, bar.told = description, share
                time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stop it, unless it has ended, and wait until it has cleaned up."""
        self._process.terminate()
        self._process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._line = line.strip()
