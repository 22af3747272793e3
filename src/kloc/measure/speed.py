# SPDX-License-Identifier: GPL-2.0
"""How fast this host simulates: guest instructions per CPU second, without and with the model.

One thread of QEMU executes all of a machine's cores. Its CPU time is measured, not the time that
passes, so that other programs on the host change the figures little.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kloc.base import progress
from kloc.base.errors import KlocError
from kloc.machine import launcher, profile
from kloc.machine.launcher import Machine
from kloc.machine.parts import Parts
from kloc.measure import host_speed, policy, workload
from kloc.measure.runner import prepare
from kloc.measure.task import Task

WORKLOAD, POLICY, SEED = "redis", "kloc", 1
"""What is run, with --quick: several processes on all cores, and migration."""

UNMODELLED, MODELLED = "unmodelled", "modelled"

PHASES: Mapping[str, str] = {
    "boot": UNMODELLED,
    "setup": UNMODELLED,
    "warm-up": MODELLED,
    "start": MODELLED,
    "measured": MODELLED,
}
"""Which stages of a machine count for which phase."""


@dataclass(frozen=True)
class Sample:
    """The state of a running machine: its stage, and what it has executed since it started."""

    stage: str
    instructions: int
    cpu_seconds: float


@dataclass(frozen=True)
class Phase:
    """Instructions that were executed, and the CPU seconds that they took."""

    instructions: int = 0
    cpu_seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Return the instructions per CPU second, 0 if nothing was executed."""
        return self.instructions / self.cpu_seconds if self.cpu_seconds else 0.0


@dataclass(frozen=True)
class Speed:
    """The speed of the host whose CPU is called `cpu`, by phase."""

    cpu: str
    parts: Parts
    phases: Mapping[str, Phase]


class Watch:
    """Adds up the phases of a machine from samples of it."""

    def __init__(self) -> None:
        """Begin with no sample."""
        self.phases = {UNMODELLED: Phase(), MODELLED: Phase()}
        self._last: Sample | None = None

    def add(self, sample: Sample) -> None:
        """Count what was executed since the last sample, unless the phase has changed since."""
        last, self._last = self._last, sample
        name = PHASES.get(sample.stage)
        if last is None or name is None or PHASES.get(last.stage) != name:
            return
        phase = self.phases[name]
        self.phases[name] = Phase(
            phase.instructions + sample.instructions - last.instructions,
            phase.cpu_seconds + sample.cpu_seconds - last.cpu_seconds,
        )


def task() -> Task:
    """Return the run that is measured."""
    host = profile.load(profile.DEFAULT)
    return Task(workload.load(WORKLOAD), policy.load(POLICY), host, SEED, workload.QUICK)


def measure() -> Speed:
    """Build the machine's parts, run the workload, and return the speed.

    It is kept for the time that --dry-run gives. Raises KlocError if the run fails.
    """
    todo = task()
    parts = prepare([todo.workload])[todo.workload.name]
    job = todo.job()
    watch = Watch()
    with progress.shown("speed of this host", job.instructions) as bar:

        def on_poll(machine: Machine) -> None:
            bar.update(machine.instructions)
            seconds = cpu_seconds(machine.pid)
            if seconds is not None:
                watch.add(Sample(machine.stage, machine.instructions, seconds))

        began = time.monotonic()
        launcher.run(job, parts, on_poll)
        elapsed = time.monotonic() - began
    missing = [name for name, phase in watch.phases.items() if not phase.rate]
    if missing:
        raise KlocError(
            f"the run of {WORKLOAD} was too short to measure: {', '.join(missing)}",
            "run it again",
        )
    host_speed.note(job.instructions, elapsed, 1)
    return Speed(cpu_name(), parts, watch.phases)


def cpu_seconds(pid: int, proc: Path = Path("/proc")) -> float | None:
    """Return the CPU seconds of the process's busiest thread, None if it has ended."""
    ticks = 0
    try:
        for stat in (proc / str(pid) / "task").glob("*/stat"):
            # The name, in parentheses, may have spaces.
            fields = stat.read_text().rpartition(")")[2].split()
            ticks = max(ticks, int(fields[11]) + int(fields[12]))
    except OSError:
        return None
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else None


def cpu_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the name of the host's CPU."""
    found = re.search(r"^model name\s*: (.+)$", cpuinfo.read_text(), re.M)
    return found[1].strip() if found else "unknown"
