# SPDX-License-Identifier: GPL-2.0
"""Measures a command, or a running process, under one setting of a scheme (DAOS, section 3.5)."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Protocol

from kloc.base.errors import KlocError, cannot_execute
from kloc.tune.score import Measurement
from kloc.tune.tree import Tree

INTERVAL_SECONDS = 0.2
"""How often memory is read."""

OVERHEAD = 0.05
"""The greatest share of time that reading memory may take."""

SETTLING = 0.5
"""The share of a unit in which a setting takes effect on a running process, unmeasured."""

LAST_LINES = 10
"""How many lines of a failed command's output an error quotes."""

CPU_SECONDS_MIN = 0.5
"""The least CPU time that can be measured: the kernel counts it in ticks of up to 10 ms."""

HOW_CPU_TIME = (
    "progress is CPU time in user mode: keep the process busy, raise --unit, or say with "
    "--progress how to measure what it does"
)
HOW_PROGRESS = "--progress COMMAND has to print a number that grows with the work done"

Progress = Callable[[], float]
"""Returns how much work a process has done so far, in any unit."""


class Setting(Protocol):
    """What applies a value of a threshold to processes."""

    def start(self, value: float | None, pids: Sequence[int]) -> None:
        """Apply the scheme with a value; None: without a scheme."""

    def follow(self, pids: Sequence[int]) -> None:
        """Apply it to these processes from now on."""

    def stop(self) -> None:
        """End the scheme."""


class Memory:
    """The average memory of a tree over time: read it again and again, then take `average`.

    `pids` are the processes of the last reading.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._last = time.monotonic()
        self._sum = self._seconds = 0.0
        self.pids, self._current = tree.read()
        self.interval = INTERVAL_SECONDS

    def read(self) -> None:
        """Read the memory. What was there since the last time is the mean of both readings."""
        start = time.monotonic()
        before = self._current
        self.pids, self._current = self._tree.read()
        self.interval = max(INTERVAL_SECONDS, (time.monotonic() - start) / OVERHEAD)
        # The last reading of a process that just ended is 0.
        mean = (before + self._current) / 2 if self._current else before
        self._sum += mean * (start - self._last)
        self._seconds += start - self._last
        self._last = start

    def average(self) -> float:
        """Return the average in bytes."""
        return self._sum / self._seconds if self._seconds else float(self._current)


class Command:
    """A command that is run once for each measurement; its output is shown only if it fails."""

    def __init__(
        self, program: Sequence[str], environment: Mapping[str, str], setting: Setting
    ) -> None:
        self._program = list(program)
        self._environment = dict(environment)
        self._setting = setting

    def measure(self, value: float | None) -> Measurement:
        """Run the command under a setting; return its runtime and average memory.

        Raises KlocError if it cannot be run or does not end with status 0.
        """
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            process = self._started(log)
            try:
                measured = self._watch(process, value)
            finally:
                _kill(process)
                self._setting.stop()
            if process.returncode != 0:
                raise self._failed(process.returncode, log)
        return measured

    def _started(self, log: IO[str]) -> subprocess.Popen[str]:
        try:
            # Its own process group: a Ctrl-C goes to kloc, which ends the group.
            return subprocess.Popen(
                self._program,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            raise cannot_execute(self._program[0], error) from error

    def _watch(self, process: subprocess.Popen[str], value: float | None) -> Measurement:
        """Wait for the end of the process."""
        start = time.monotonic()
        descriptor = os.pidfd_open(process.pid)
        try:
            # Without poll(), a process that has ended stays visible as a zombie.
            self._setting.start(value, [process.pid])
            tree = Tree(process.pid)
            memory = Memory(tree)
            while not select.select([descriptor], [], [], memory.interval)[0]:
                memory.read()
                self._setting.follow(memory.pids)
            runtime = time.monotonic() - start
        finally:
            os.close(descriptor)
        process.wait()
        return Measurement(runtime, memory.average())

    def _failed(self, status: int, log: IO[str]) -> KlocError:
        log.seek(0)
        last = "".join(log.readlines()[-LAST_LINES:]).rstrip()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return KlocError(
            f"the command ended with {how}" + (f":\n{last}" if last else ""),
            "make it succeed without kloc first; if it fails only under the scheme, "
            "narrow the range of the threshold",
        )


class Process:
    """A running process, which is measured for a unit of time under each setting.

    The setting takes effect in the first half of the unit, and the second half is measured.
    """

    def __init__(self, pid: int, unit: float, progress: Progress | None, setting: Setting) -> None:
        """`unit` is seconds; without `progress`, CPU time in user mode is the progress."""
        self._pid = pid
        self._tree = Tree(pid)
        self._unit = unit
        self._progress = progress or self._tree.user_seconds
        self._least = 0.0 if progress else CPU_SECONDS_MIN
        self._how = HOW_PROGRESS if progress else HOW_CPU_TIME
        self._setting = setting

    def measure(self, value: float | None) -> Measurement:
        """Return the seconds for a unit of progress, and the average memory, under a setting.

        Raises KlocError if the process ends, or makes no progress.
        """
        try:
            self._setting.start(value, self._tree.pids())
            self._wait(time.monotonic() + SETTLING * self._unit, None)
            start, before = time.monotonic(), self._progress()
            memory = Memory(self._tree)
            self._wait(start + (1 - SETTLING) * self._unit, memory)
            done, seconds = self._progress() - before, time.monotonic() - start
        finally:
            self._setting.stop()
        if done <= self._least:
            raise KlocError(
                f"process {self._pid} made too little progress to measure, {done:g} in "
                f"{seconds:.1f} seconds",
                self._how,
            )
        return Measurement(seconds / done, memory.average())

    def _wait(self, end: float, memory: Memory | None) -> None:
        """Wait until a time, with the setting on all processes of the tree; read the memory."""
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, memory.interval if memory else INTERVAL_SECONDS))
            if not self._tree.alive():
                raise KlocError(
                    f"process {self._pid} ended while it was measured",
                    "tune a process that keeps running, or a command after '--'",
                )
            if memory:
                memory.read()
            self._setting.follow(memory.pids if memory else self._tree.pids())


def _kill(process: subprocess.Popen[str]) -> None:
    """End all processes of the command that are left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
