# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kloc.machine.profile import Profile

# Enough for two threads to get in each other's way.
UNMODELLED_CPUS = 2


@dataclass(frozen=True)
class Job:
    """What runs in a machine, and which.

    `settings` are files of the guest and what is written to them; `scripts` are
    the agent's steps (setup, measured, check); `copies` are host paths that are
    found at the same path in the guest. `timing` names the tier that all memory
    is timed as; with `fast_kinds`, pages of these kinds are timed as fast and all others as slow,
    wherever they lie; `frames` asks for the per-frame counts of the oracle.
    `follow` asks for what `Machine.live` gives; `observe` for what pages are used for, which slows
    the host down and changes nothing in the machine.
    `instructions` is about what will be executed, for the time left. With `commands`, kloc's own
    are found in it; its packages are then to have those of kloc.machine.guest_commands.

    Without `modelled` there is no timing model and no figure: two CPUs run in
    the host's own time, which finds what one cannot.
    """

    name: str
    profile: Profile
    scripts: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    timing: str | None = None
    fast_kinds: tuple[str, ...] | None = None
    seed: int = 1
    packages: tuple[str, ...] = ()
    copies: tuple[Path, ...] = ()
    frames: bool = False
    follow: bool = False
    observe: bool = False
    shell: bool = False
    commands: bool = False
    instructions: float = 20e9
    modelled: bool = True


@dataclass(frozen=True)
class Raw:
    """What a finished run left: the agent's frames, the model's report, the frames' file."""

    frames: Mapping[str, str]
    model: Mapping[str, Any]
    pages: bytes | None
    console: str


def cpus(job: Job) -> int:
    """Return how many CPUs run the job."""
    return 1 if job.modelled else UNMODELLED_CPUS
