# SPDX-License-Identifier: GPL-2.0
"""Records what DAMON sees of processes, or of physical memory, on the running system."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from kloc.base import revision
from kloc.base.errors import KlocError
from kloc.base.ranges import joined
from kloc.heat import kinds, processes, tiers, tracing
from kloc.heat.events import Snapshots
from kloc.heat.records import Kinds, Memory, Process, Record, Snapshot
from kloc.schemes import damon
from kloc.schemes.damon import Damon
from kloc.schemes.sysfs import Attributes, Physical, Processes

POLL_SECONDS = 0.2
"""How often the trace is read, and new processes are looked for."""

Running = Callable[[], Sequence[int]]
"""Returns the processes to monitor, none if the last one has ended."""


class Recorder:
    """A recording in progress; `recording` makes one."""

    def __init__(self, taken: Damon, trace: tracing.Trace, attributes: Attributes) -> None:
        self._damon = taken
        self._trace = trace
        self._attributes = attributes
        self._start = time.monotonic()
        self._events = Snapshots(self._start)
        self._snapshots: list[Snapshot] = []
        self._processes: list[Process] = []
        # What the targets of DAMON are, in their order.
        self._pids: list[int] = []
        self._physical: Physical | None = None
        self._memory: tuple[Memory, ...] = ()
        self._kinds: tuple[Kinds, ...] = ()

    def start_physical(self) -> None:
        """Monitor all memory of the system. Raises KlocError."""
        self._physical = damon.physical_memory()
        self._damon.apply([], self._attributes, self._physical)

    def start_processes(self, pids: Sequence[int]) -> None:
        """Monitor processes. Raises KlocError if DAMON refuses them."""
        self._damon.apply([], self._attributes, Processes(tuple(pids)))
        self._pids = list(pids)

    def watch(self, running: Running, seconds: float | None) -> None:
        """Record until `running` returns nothing, DAMON ends, or `seconds` are over."""
        end = None if seconds is None else time.monotonic() + seconds
        try:
            while end is None or time.monotonic() < end:
                pids = running()
                if not pids or not damon.runs():
                    break
                if self._physical is None:
                    self._follow(processes.in_order(self._pids, list(pids)))
                left = POLL_SECONDS if end is None else end - time.monotonic()
                time.sleep(max(0.0, min(left, POLL_SECONDS)))
                self._read()
        finally:
            self._read()
            # Before the command's processes end, which frees their pages.
            if self._physical is not None:
                self._memory = tuple(tiers.of_system(self._physical.ranges))
                self._kinds = kinds.of_system(self._memory)

    def record(self, title: str) -> Record:
        """Return what was recorded so far. Raises KlocError if that is nothing."""
        if not self._snapshots:
            raise KlocError(
                f"DAMON saw nothing of {title}: no aggregation interval was complete",
                f"record for longer than {self._attributes.aggregation_us / 1e6:g} s, or lower "
                "--sampling and --aggregation",
            )
        return Record(
            title=title,
            kernel=os.uname().release,
            attributes=self._attributes,
            seconds=self._snapshots[-1].time,
            snapshots=tuple(self._snapshots),
            processes=tuple(self._processes),
            memory=self._memory,
            kinds=self._kinds,
            lost=self._events.lost,
            kloc=revision.commit(),
        )

    def _follow(self, pids: list[int]) -> None:
        """Let DAMON monitor these processes."""
        if set(pids) == set(self._pids):
            return
        # What is in the trace by now is of the targets before.
        self._read()
        if self._damon.retarget(pids):
            self._pids = list(self._damon.pids)

    def _read(self) -> None:
        numbers: list[int | None] = [self._number(pid) for pid in self._pids]
        if self._physical is not None:
            numbers = [None]
        self._snapshots += self._events.add(self._trace.read(), numbers)

    def _number(self, pid: int) -> int:
        """Return the number of a process in the record, and bring it up to date there."""
        numbers = {known.pid: number for number, known in enumerate(self._processes)}
        number = numbers.get(pid, len(self._processes))
        if number == len(self._processes):
            self._processes.append(Process(pid, ""))
        known = self._processes[number]
        mapped = joined(sorted({*known.mapped, *processes.mapped(pid)}))
        self._processes[number] = Process(pid, processes.name(pid) or known.name, tuple(mapped))
        return number


@contextmanager
def recording(attributes: Attributes) -> Iterator[Recorder]:
    """Yield a recorder, and restore DAMON and tracing at the end. Raises KlocError."""
    damon.check()
    with damon.taken() as taken, tracing.started(attributes, POLL_SECONDS) as trace:
        yield Recorder(taken, trace, attributes)
