# SPDX-License-Identifier: GPL-2.0
"""Machines that end at once, for tests of comparisons: everything but the machine is kloc's own.

As a program, it runs a kloc command with these machines, of which one hangs after N runs, so that
the program has to be killed: N CACHE COMMAND [ARGUMENT...].
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from kloc.base import cache, hashes
from kloc.build.kernel import Kernel
from kloc.commands import bench_tables, compare, size
from kloc.machine import launcher
from kloc.machine.job import Job, Raw
from kloc.measure import oracle, record, runner
from kloc.measure.policy import Policy
from kloc.measure.task import Task
from kloc.measure.workload import Outcome, Size
from support import made_up
from support.command import run

FRAMES = np.array([(9.0, 1, oracle.FAST_NODE), (0.0, 0, 0)], dtype=oracle.FRAME).tobytes()

ran: list[str] = []
"""The runs that were made since `install`."""

faults: dict[str, Any] = {}
"""What goes wrong: `kernel`, another kernel's hash; `speed`, a factor of the throughput; `stop`,
the number of runs after which the user presses Ctrl-C; `hang`, that after which a machine hangs;
`promoted`, pages that runs promote."""


class Machine:
    """A machine that ends at once."""

    instructions, stage = 0, "measured"

    def __init__(self, job: Job, parts: Any, directory: Path) -> None:
        self.job = job

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def step(self) -> Raw:
        if len(ran) == faults.get("stop"):
            raise KeyboardInterrupt
        if len(ran) == faults.get("hang"):
            time.sleep(3600)
        model = {"free_fast_at_start": 1, "layout_known": True}
        return Raw({}, model, FRAMES if self.job.frames else None, "", inputs=inputs(self.job))


def inputs(job: Job, _: Any = None) -> dict[str, str]:
    """Return the inputs of a job."""
    frames = {} if job.fast_frames is None else {"fast_frames": hashes.of_bytes(job.fast_frames)}
    description = f"{job.name} {job.seed} {job.timing} {job.settings} {sorted(job.scripts.items())}"
    return {
        "kernel": faults.get("kernel", "71c8aa0311223344"),
        "job_disk": hashes.of_text(description),
        **frames,
    }


def from_raw(
    job: Job, policy: Policy, outcome: Outcome, raw: Raw, size: Size, cold: bool
) -> record.Run:
    """Return a result whose throughput follows from the inputs."""
    ran.append(f"{job.name} {policy.name} {job.seed}{job.profile.variant}")
    throughput = float(1 + int(hashes.of_text(str(raw.inputs)), 16) % 1000)
    return made_up.run(
        policy.name,
        throughput * faults.get("speed", 1),
        job.name,
        seed=job.seed,
        machine=record.machine_summary(job),
        size=asdict(size),
        cold=cold,
        settings=dict(job.settings),
        inputs=dict(raw.inputs),
        migrated_pages={"promoted": {"anon": faults.get("promoted", 0)}, "demoted": {}},
    )


def parts(workloads: Any, *_: object, **__: object) -> dict[str, Any]:
    """Return the parts of the machine of each workload, whose guest has a package of its name."""
    return {
        one.name: SimpleNamespace(
            kernel=Kernel(Path("bzImage"), Path("vmlinux"), Path("config"), "6.12.1", "abc"),
            root=SimpleNamespace(
                versions=lambda: {"gcc": "14", "linux-source": "6.12.1-1"}, packages=dict
            ),
            qemu=SimpleNamespace(version="10"),
            plugin=Path("/cache/plugin/p1/model.so"),
            programs=(),
            image=SimpleNamespace(versions={"libc6": "2.41", one.name: "1"}),
        )
        for one in workloads
    }


def install(replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """Let `kloc compare`, `kloc size` and `kloc bench tables` use these machines.

    They keep nothing in the cache directory. `replace` is setattr, or a test's own.
    """
    ran.clear()
    faults.clear()
    replace(launcher, "Machine", Machine)
    replace(launcher, "inputs_of", inputs)
    replace(record, "from_raw", from_raw)
    replace(Task, "outcome", lambda *_: Outcome(1, None))
    replace(runner, "POLL_SECONDS", 0)
    replace(compare, "prepare", parts)
    replace(bench_tables, "prepare", parts)
    replace(size, "prepare", parts)
    replace(runner, "prepare", parts)
    replace(compare, "_unsupported", lambda *_: {})
    replace(compare, "KEPT", {})


if __name__ == "__main__":
    cache.use_directory(Path(sys.argv[2]))
    install()
    faults["hang"] = int(sys.argv[1])
    sys.exit(run(*sys.argv[3:]))
