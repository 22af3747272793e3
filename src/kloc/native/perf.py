# SPDX-License-Identifier: GPL-2.0
"""Counts events of the processors with perf during a part of a run, if there is perf."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kloc.native.signals import begin_child

EVENTS = ("cycles", "instructions", "cache-misses", "dTLB-load-misses", "page-faults")

NO_PERF = "no events of the processors were counted: there is no program perf (package linux-perf)"

END_SECONDS = 10.0


class Perf:
    """A perf that counts on all CPUs while it is told to."""

    def __init__(self, file: Path, group: str | None) -> None:
        """Start perf, which does not count yet. `group` is the cgroup to count, None for all.

        Raises OSError if perf cannot count here.
        """
        self._file = file
        control, self._control = os.pipe()
        self._told, told = os.pipe()
        argv = ["perf", "stat", "-a", "-x", ";", "-o", str(file), "-D", "-1"]
        argv += ["--control", f"fd:{control},{told}", "-e", ",".join(EVENTS)]
        if group is not None:
            argv += ["-G", ",".join([group] * len(EVENTS))]
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(control, told),
                start_new_session=True,
                preexec_fn=begin_child,
                env={**os.environ, "LC_ALL": "C"},
            )
        finally:
            os.close(control)
            os.close(told)

    def tell(self, command: str) -> bool:
        """Let perf begin (`enable`) or stop (`disable`) to count; return whether it does."""
        try:
            os.write(self._control, f"{command}\n".encode())
            ready, _, _ = select.select([self._told], [], [], END_SECONDS)
            return bool(ready) and os.read(self._told, 16).startswith(b"ack")
        except OSError:
            return False

    def close(self) -> None:
        """End perf, which then writes what it has counted."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)
        os.close(self._control)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._told)

    def counted(self) -> dict[str, int]:
        """Return the counts by event, without those that the processor cannot count."""
        return parse(self._file.read_text()) if self._file.exists() else {}


def parse(text: str) -> dict[str, int]:
    """Return the counts in the output of perf stat -x ';'."""
    found = {}
    for line in text.splitlines():
        number, _, event, *_ = [*line.split(";"), "", "", ""]
        if number.isdecimal():
            # With a suffix such as :u where only a part may be counted.
            found[event.partition(":")[0]] = int(number)
    return found


@contextmanager
def counting(file: Path, group: str | None) -> Iterator[dict[str, int]]:
    """Count during the block; yield the counts, which are there after it. Empty without perf."""
    counts: dict[str, int] = {}
    if shutil.which("perf") is None:
        yield counts
        return
    perf = Perf(file, group)
    try:
        perf.tell("enable")
        yield counts
        perf.tell("disable")
    finally:
        perf.close()
    counts.update(perf.counted())
