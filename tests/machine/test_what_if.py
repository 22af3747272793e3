# SPDX-License-Identifier: GPL-2.0
"""Placement by page kind: the kind of a page decides its latency, not the node it is on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kloc.build import programs
from kloc.machine import launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import prepare_parts
from kloc.measure import policy, what_if
from kloc.measure.machine_bench import answers, formulas

pytestmark = pytest.mark.machine

COMMANDS = ("known_latency 0 1 1", "known_latency 1 1 1")
"""Dependent loads from memory on the fast node, and on the slow node."""


@pytest.fixture(scope="module")
def program() -> Path:
    return programs.build(answers.SOURCES / "known_latency.c")


def run(program: Path, fast_kinds: tuple[str, ...]) -> tuple[list[float], Any]:
    """Return the mean latency of each of COMMANDS in ns, and the timing model's report."""
    host = profile.load(profile.DEFAULT)
    job = Job(
        name="latency",
        profile=host,
        scripts={"measured": "".join(f"{program.parent}/{line}\n" for line in COMMANDS)},
        settings=policy.load(what_if.NEITHER).settings("", host),
        copies=(program,),
        fast_kinds=fast_kinds,
    )
    raw = launcher.run(job, prepare_parts(()))
    lines = [line.split() for line in raw.frames["measured"].splitlines()]
    latencies = [float(value) for _, name, value, _ in lines if name.endswith(".idle")]
    return latencies, raw.model


def test_fast_kinds_are_timed_as_fast_on_both_nodes(program: Path) -> None:
    host = profile.load(profile.DEFAULT)
    latencies, model = run(program, what_if.APPLICATION)
    assert latencies == pytest.approx([formulas.overlapping_ns(host.fast, 1)] * 2, rel=0.01)
    assert set(model["stall_ns"]["fast"]) <= set(what_if.APPLICATION)
    assert not set(model["stall_ns"]["slow"]) & set(what_if.APPLICATION)
    assert "anon" in model["pages"]["fast"] and "anon" not in model["pages"]["slow"]


def test_other_kinds_are_timed_as_slow_on_both_nodes(program: Path) -> None:
    host = profile.load(profile.DEFAULT)
    kernel = next(row.fast for row in what_if.rows() if row.name == "kernel")
    latencies, model = run(program, kernel)
    assert latencies == pytest.approx([formulas.overlapping_ns(host.slow, 1)] * 2, rel=0.01)
    assert set(model["stall_ns"]["slow"]) <= set(what_if.APPLICATION)
