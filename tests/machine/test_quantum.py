# SPDX-License-Identifier: GPL-2.0
"""Results do not depend on the quantum, by which one core may run ahead of another."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest
from msgspec.structs import replace

from kloc.build import programs
from kloc.machine import launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import prepare_parts
from kloc.measure import policy
from support.in_machine import SOURCES

pytestmark = pytest.mark.machine

QUANTA_US = (0.5, 1, 2)
"""That of the profiles, and shorter ones, which are nearer to cores that run side by side."""

RUNS = 3

BOUND = 0.10
"""The most that throughput differs between two quanta, as a fraction; docs/machine.md states it."""


@pytest.fixture(scope="module")
def program() -> Path:
    return programs.build(SOURCES / "contend.c")


def throughput(program: Path, threads: int, quantum_us: float) -> float:
    """Return the rounds per ms of threads that share locks and pass messages: a mean of runs.

    A run differs from the next one by some per cent, as its threads happen to meet.
    """
    host = replace(profile.load(profile.DEFAULT), quantum_us=quantum_us)
    job = Job(
        name=f"quantum-{quantum_us}",
        profile=host,
        scripts={"measured": RUNS * f"{program} {threads} 4000\n"},
        settings=policy.load("stock").settings("", host),
        copies=(program,),
    )
    return mean(map(float, launcher.run(job, prepare_parts(())).frames["measured"].split()))


@pytest.mark.parametrize("threads", [4, 8])
def test_contended_locks_and_messages_do_not_depend_on_the_quantum(
    threads: int, program: Path
) -> None:
    """With more threads than cores, the scheduler takes part, too."""
    rates = {quantum: throughput(program, threads, quantum) for quantum in QUANTA_US}
    assert max(rates.values()) / min(rates.values()) < 1 + BOUND, rates
