# SPDX-License-Identifier: GPL-2.0
"""A job, which describes a run and its machine, and the raw output of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kloc.base.daemon import Daemon
from kloc.machine.profile import Profile
from kloc.machine.topology import Topology

UNMODELLED_CPUS = 2
"""The usual number of CPUs without the timing model: enough for races between two threads."""


MEMORY_INTERVAL_US = 5_000
"""How often the memory that processes use is sampled, in simulated time."""

BOUND_INTERVAL_US = 20_000
"""How often the budgets of a policy with a bound are sampled: they change a few times a period."""


@dataclass(frozen=True)
class Swap:
    """Swap of the guest: compressed memory (`kind` is "zram"), or a file on /data ("file")."""

    kind: str
    size_bytes: int


@dataclass(frozen=True)
class Terminal:
    """The terminal of a shell: its `type` is that of $TERM."""

    type: str
    rows: int
    columns: int


@dataclass(frozen=True)
class Damon:
    """DAMON of the guest: what is written to its files, but for target and state.

    `target` is "physical", or "processes": those of the job. New ones are looked for every
    `update_us`. Of physical memory, each kdamond monitors one of `nodes`, None for all memory.
    """

    writes: tuple[tuple[str, str], ...]
    target: str
    update_us: int
    nodes: tuple[int | None, ...] = (None,)


@dataclass(frozen=True)
class Job:
    """What runs on which machine.

    profile       the machine
    scripts       the agent's shell scripts: setup, warm, start, measured, check. `warm` is one
                  slice of the warm-up, and gets the slice's number; `start` is not measured.
                  Or `prepare` alone, which fills `disk`: nothing is measured then
    disk          the image of the file system on /data, None for an empty one
    slices        the most slices of the warm-up
    settings      values to write to files of the guest, by path
    timing        the tier that all memory is timed as; None: each tier as itself
    fast_kinds    page kinds that are timed as fast memory, all others as slow memory, wherever
                  their pages are; None: pages are timed as the tier that they are in
    seed          random seed of QEMU and of the guest's kernel
    packages      Debian packages of the guest
    copies        host paths that are copied into the guest, to the same paths
    fast_frames   a byte for each page frame, in the order of the nodes: 1 is timed as fast memory,
                  wherever it is; None: frames are timed as the tier that they are in
    frames        record the stall time that each page frame causes, for the oracle
    follow        write the totals that `Machine.live` returns
    observe       record what pages are used for; slower on the host, the same in the machine
    shell         run an interactive shell on the terminal instead of the scripts
    terminal      of a shell: the terminal's type, rows and columns, None if they are not known
    commands      install kloc's own commands; `packages` must then include those of
                  kloc.machine.guest_commands
    instructions  estimate of the instructions that the job executes, to estimate the time left
    modelled      measure with the timing model
    swap, damon   swap and DAMON of the guest; with either of them, the memory that processes use
                  is sampled in the measured region
    daemon        the program in user space that is the policy; `packages` must then include its own
    bounded       the policy keeps a bound on slowdown: sample its budgets from the warm-up on
    parameters    additional parameters of the guest's kernel
    cpus          CPUs of each socket without the timing model
    topology      the nodes in place of the profile's, without the timing model only

    Without `modelled` nothing is measured: the CPUs run at the same time, in the host's time.
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
    fast_frames: bytes | None = None
    frames: bool = False
    follow: bool = False
    observe: bool = False
    shell: bool = False
    terminal: Terminal | None = None
    commands: bool = False
    instructions: float = 20e9
    modelled: bool = True
    slices: int = 6
    disk: Path | None = None
    swap: Swap | None = None
    damon: Damon | None = None
    daemon: Daemon | None = None
    bounded: bool = False
    parameters: tuple[str, ...] = ()
    cpus: int = UNMODELLED_CPUS
    topology: Topology | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if the timing model would not know the nodes."""
        if self.topology is not None and self.modelled:
            raise ValueError("the timing model knows the nodes of profiles only")

    @property
    def samples_memory(self) -> bool:
        """Whether the memory that processes use is sampled in the measured region."""
        return self.swap is not None or self.damon is not None

    @property
    def watchers(self) -> frozenset[str]:
        """The names of the programs that the guest needs to be watched."""
        memory = {"kloc-memory", "kloc-damon"} if self.samples_memory else set()
        return frozenset(memory | ({"kloc-bound"} if self.bounded else set()))

    @property
    def prepares(self) -> bool:
        """Whether this job prepares its disk for other jobs, and measures nothing."""
        return "prepare" in self.scripts


@dataclass(frozen=True)
class Raw:
    """The output of a finished run.

    `frames` are the agent's, by name. `model` is the timing model's report of the measured region,
    empty for a shell or without the model. `warm_up` is its report of the warm-up, None without
    one. `pages` is the model's per-frame file, None unless the job asks for `frames`. `console` is
    empty for a shell, whose console is the terminal. `inputs` are hashes of what the run was made
    from (see kloc.machine.inputs), empty if nothing was measured.
    """

    frames: Mapping[str, str]
    model: Mapping[str, Any]
    pages: bytes | None
    console: str
    warm_up: Mapping[str, Any] | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)


def cpu_count(job: Job) -> int:
    """Return how many CPUs the machine has, spare ones included."""
    profile = job.profile
    if job.topology is not None:
        return job.topology.cpus
    if job.modelled:
        return profile.cores + profile.spare_cores
    return job.cpus * profile.sockets
