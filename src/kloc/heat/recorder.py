# SPDX-License-Identifier: GPL-2.0
"""Watches or records what DAMON sees of processes, or of physical memory, on this system."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

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

_Kind = TypeVar("_Kind", bound="Watcher")

Running = Callable[[], Sequence[int]]
"""Returns the processes to monitor, none if the last one has ended."""


class Watcher:
    """Lets DAMON monitor processes or physical memory, and takes its snapshots.

    A subclass says what becomes of them (`take`). `watching` makes one.
    """

    def __init__(self, taken: Damon, trace: tracing.Trace, attributes: Attributes) -> None:
        self.attributes = attributes
        self.processes: list[Process] = []
        """The processes that were monitored; snapshots name them by their index."""
        self._damon = taken
        self._trace = trace
        self._events = Snapshots(time.monotonic())
        # What the targets of DAMON are, in their order.
        self._pids: list[int] = []
        self._physical: Physical | None = None

    def take(self, snapshot: Snapshot) -> None:
        """Do something with the next snapshot."""
        raise NotImplementedError

    def ended(self) -> None:
        """Do what has to be done when `watch` ends, before processes do."""

    @property
    def lost(self) -> int:
        """The number of snapshots that are missing or incomplete."""
        return self._events.lost

    def start_physical(self) -> None:
        """Monitor all memory of the system. Raises KlocError."""
        self._physical = damon.physical_memory()
        self._damon.apply([], self.attributes, self._physical)

    def start_processes(self, pids: Sequence[int]) -> None:
        """Monitor processes. Raises KlocError if DAMON refuses them."""
        self._damon.apply([], self.attributes, Processes(tuple(pids)))
        self._pids = list(pids)

    def watch(self, running: Running, seconds: float | None) -> None:
        """Take snapshots until `running` returns nothing, DAMON ends, or `seconds` are over."""
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
            self.ended()

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
        for snapshot in self._events.add(self._trace.read(), numbers):
            self.take(snapshot)

    def _number(self, pid: int) -> int:
        """Return the number of a process in the record, and bring it up to date there."""
        numbers = {known.pid: number for number, known in enumerate(self.processes)}
        number = numbers.get(pid, len(self.processes))
        if number == len(self.processes):
            self.processes.append(Process(pid, ""))
        known = self.processes[number]
        mapped = joined(sorted({*known.mapped, *processes.mapped(pid)}))
        self.processes[number] = Process(pid, processes.name(pid) or known.name, tuple(mapped))
        return number


class Recorder(Watcher):
    """A recording in progress: keeps the snapshots."""

    def __init__(self, taken: Damon, trace: tracing.Trace, attributes: Attributes) -> None:
        super().__init__(taken, trace, attributes)
        self._snapshots: list[Snapshot] = []
        self._memory: tuple[Memory, ...] = ()
        self._kinds: tuple[Kinds, ...] = ()

    def take(self, snapshot: Snapshot) -> None:
        """Keep the snapshot."""
        self._snapshots.append(snapshot)

    def ended(self) -> None:
        """Read the kinds of pages, before the command's processes end, which frees their pages."""
        if self._physical is not None:
            self._memory = tuple(tiers.of_system(self._physical.ranges))
            self._kinds = kinds.of_system(self._memory)

    def record(self, title: str) -> Record:
        """Return what was recorded so far. Raises KlocError if that is nothing."""
        if not self._snapshots:
            raise KlocError(
                f"DAMON saw nothing of {title}: no aggregation interval was complete",
                f"record for longer than {self.attributes.aggregation_us / 1e6:g} s, or lower "
                "--sampling and --aggregation",
            )
        return Record(
            title=title,
            kernel=os.uname().release,
            attributes=self.attributes,
            seconds=self._snapshots[-1].time,
            snapshots=tuple(self._snapshots),
            processes=tuple(self.processes),
            memory=self._memory,
            kinds=self._kinds,
            lost=self.lost,
            kloc=revision.commit(),
        )


@contextmanager
def watching(kind: type[_Kind], attributes: Attributes) -> Iterator[_Kind]:
    """Yield a watcher of this class, and restore DAMON and tracing at the end. Raises KlocError."""
    damon.check()
    with damon.taken() as taken, tracing.started(attributes, POLL_SECONDS) as trace:
        yield kind(taken, trace, attributes)
