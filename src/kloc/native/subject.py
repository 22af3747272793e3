# SPDX-License-Identifier: GPL-2.0
"""What is measured natively: a workload of kloc, or a command of the user's."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kloc.base.errors import KlocError
from kloc.measure.workload import Outcome, Size, Workload, load, names
from kloc.native.box import PROGRAMS, Surroundings

BEFORE = ("prepare", "setup", "warm", "start")
"""The scripts before the measured one, in this order."""

MEASURED, CHECK = "measured", "check"

CLEAN = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/data",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
}
"""The environment of workloads, as in kloc's machine."""


@dataclass(frozen=True)
class Subject:
    """A program that is measured in runs; `scripts` are by name for a seed, and `slices` warm up.

    `own` says that it has its own root directory, and then `workload` has what it needs.
    `outcome` reads what the scripts have printed.
    """

    name: str
    scripts: Callable[[int], Mapping[str, str]]
    outcome: Callable[[Mapping[str, str]], Outcome]
    slices: int
    own: bool
    environment: Mapping[str, str]
    workload: Workload | None = None
    size: Size | None = None
    directory: Path = field(default_factory=Path.cwd)

    def has(self, name: str, seed: int) -> bool:
        """Return whether there is a script of this name."""
        return name in self.scripts(seed)

    @property
    def surroundings(self) -> Surroundings:
        """Where its scripts run."""
        return Surroundings(self.own, self.directory, self.environment)


def native(name: str) -> Workload:
    """Return a workload that can run on a server. Raises KlocError, with the reason, otherwise."""
    one = load(name)
    if one.not_native:
        others = [other for other in names() if not load(other).not_native]
        raise KlocError(
            f"kloc does not measure {one.name} on a server: {one.not_native}",
            f"choose one of {', '.join(others)}, or measure it in the machine, without --native",
        )
    return one


def of_workload(workload: Workload, size: Size) -> Subject:
    """Return a workload as it is measured natively."""
    begin = f"cd /data\nPATH={PROGRAMS}:$PATH\n"

    def scripts(seed: int) -> dict[str, str]:
        made = {
            "prepare": workload.prepare and workload.prepare(size, seed),
            "setup": workload.setup(size, seed),
            "warm": workload.slices(size, seed),
            "start": workload.start and workload.start(size, seed),
            MEASURED: workload.measured(size, seed),
            CHECK: workload.check and workload.check(size, seed),
        }
        return {name: f"{begin}{script}" for name, script in made.items() if script}

    slices = workload.slices_max if workload.slices(size, 1) else 0
    return Subject(
        workload.name,
        scripts,
        lambda printed: workload.outcome(printed, size),
        slices,
        own=True,
        environment=CLEAN,
        workload=workload,
        size=size,
    )


def of_command(
    program: Sequence[str], setup: str | None, warm_ups: int, environment: Mapping[str, str]
) -> Subject:
    """Return a command of the user's; `setup` is a script that runs before it."""
    command = f"exec {shlex.join(program)}\n"
    scripts = {"setup": setup, "warm": command if warm_ups else None, MEASURED: command}
    kept = {name: script for name, script in scripts.items() if script}
    return Subject(
        Path(program[0]).name,
        lambda _: kept,
        lambda _: Outcome(1, None),
        warm_ups,
        own=False,
        environment=environment,
    )
