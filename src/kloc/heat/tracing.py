# SPDX-License-Identifier: GPL-2.0
"""Reads what DAMON sees from its tracepoint damon:damon_aggregated, in a trace instance of kloc's.

The tracepoint has every region of every aggregation interval, in one file. The other source,
DAMON's sysfs files of the regions that a scheme `stat` tried, has a directory of four files for
each region: a thousand regions take longer to read than an interval, and each update waits for the
end of one, so that intervals would be missing.

An instance has buffers and settings of its own: other users of tracing see nothing of it.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kloc.base.errors import KlocError
from kloc.schemes import damon
from kloc.schemes.sysfs import Attributes

PLACES = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
"""Where tracefs is mounted; the first one is where kloc mounts it if it is not."""

NAME = "kloc-heatmap"
"""The instance. Only one kloc at a time has DAMON, and so the instance."""

EVENT = "events/damon/damon_aggregated"

CLOCK = "mono"
"""The clock of the events, which is that of Python's time.monotonic()."""

EVENT_BYTES = 64
"""The size of an event in the buffer, rounded up."""

READINGS = 4
"""The buffer of each CPU holds the events of this many readings."""

BUFFER_MIN = 64
"""KiB."""

NEEDED = "boot a kernel with CONFIG_TRACING and event tracing (Debian's have it)"


class Trace:
    """The trace while it is recorded; `started` makes one."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self) -> str:
        """Return what was traced since the last call."""
        parts = []
        with suppress(BlockingIOError):
            while part := os.read(self._descriptor, 1 << 16):
                parts.append(part)
        return b"".join(parts).decode(errors="replace")


@contextmanager
def started(attributes: Attributes, interval: float) -> Iterator[Trace]:
    """Trace DAMON for the block. DAMON must be kloc's (`damon.taken`).

    The caller reads every `interval` seconds. Raises KlocError if the kernel cannot trace DAMON.
    """
    with _mounted() as folder, _instance(folder) as instance:
        _write(instance / "buffer_size_kb", str(buffer_kib(attributes, interval)))
        _write(instance / "trace_clock", CLOCK)
        _write(instance / EVENT / "enable", "1")
        descriptor = os.open(instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield Trace(descriptor)
        finally:
            os.close(descriptor)


def buffer_kib(attributes: Attributes, interval: float) -> int:
    """Return the KiB of buffer that each CPU needs if it is read every `interval` seconds."""
    intervals = max(1.0, interval * 1e6 / attributes.aggregation_us)
    needed = READINGS * intervals * attributes.max_regions * EVENT_BYTES
    return max(BUFFER_MIN, round(needed / 1024))


@contextmanager
def _mounted() -> Iterator[Path]:
    """Yield the directory of tracefs, which is mounted for the block if it is not."""
    for place in PLACES:
        if damon.path_of(f"{place}/instances").exists():
            yield damon.path_of(place)
            return
    folder = damon.path_of(PLACES[0])
    argv = ["mount", "-t", "tracefs", "tracefs", str(folder)]
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise KlocError(
            f"this kernel's tracing cannot be used: {done.stderr.strip() or 'mount failed'}", NEEDED
        )
    try:
        yield folder
    finally:
        with _signals_waiting():
            subprocess.run(["umount", str(folder)], check=False)


@contextmanager
def _instance(folder: Path) -> Iterator[Path]:
    """Yield the directory of kloc's instance, which exists for the block."""
    instance = folder / "instances" / NAME
    if not (folder / EVENT).exists():
        raise KlocError(
            "this kernel has no tracepoint damon:damon_aggregated, which heat maps are made from",
            NEEDED,
        )
    # A kloc that was killed leaves its own.
    with suppress(FileNotFoundError):
        remove(instance)
    try:
        make(instance)
    except OSError as error:
        raise _refused(instance, error) from error
    try:
        yield instance
    finally:
        with _signals_waiting():
            remove(instance)


def make(instance: Path) -> None:
    """Create an instance. Raises OSError."""
    instance.mkdir()


def remove(instance: Path) -> None:
    """Remove an instance, which stops its events. Raises OSError."""
    instance.rmdir()


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> KlocError:
    hint = damon.AS_ROOT if error.errno == errno.EACCES else NEEDED
    if error.errno == errno.EPERM:
        hint = "the kernel may be locked down: cat /sys/kernel/security/lockdown"
    return KlocError(f"tracing of DAMON was refused, {path}: {error.strerror}", hint)


@contextmanager
def _signals_waiting() -> Iterator[None]:
    """Let signals wait until the block has cleaned up."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, damon.SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
