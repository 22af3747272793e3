# SPDX-License-Identifier: GPL-2.0
"""What our patches cost, off and on, against the unpatched kernel."""

from __future__ import annotations

import pytest

from kloc.measure.cost import kernels, runner
from kloc.measure.cost.runner import Measured
from kloc.results import cost_table

pytestmark = pytest.mark.soak

ELSEWHERE = 0.0003
"""A call's instructions, as a fraction, for memory that lies elsewhere on another kernel."""

ELSEWHERE_FORK = 0.003
"""The same for fork, which meets hundreds of pages and objects in another order: measured are
0.24 % between two kernels of which neither has an instruction of ours, and 0.29 % between two
runs of the unpatched one that differ in a setting that fork does not use."""


def elsewhere(name: str) -> float:
    """Return how much of a call's instructions may be a matter of where memory lies."""
    return ELSEWHERE_FORK if name.startswith("fork") else ELSEWHERE


def straddled(lines: int) -> float:
    """Return how many lines more or fewer a call may touch for where a kernel's variables lie.

    Fork touches 2,770 or so; eight more on a kernel that has no instruction of ours in it.
    """
    return max(5, lines / 200)


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    """Every column, by name."""
    return {each.column.name: each for each in runner.measure(kernels.COLUMNS)}


def test_what_is_configured_out_costs_nothing(measured: dict[str, Measured]) -> None:
    """Fork meets pages and objects in another order on another kernel; the rest is the same."""
    unpatched, base = measured["unpatched"], measured["base"]
    for theirs, ours in zip(unpatched.groups, base.groups, strict=True):
        for one, other in zip(theirs.calls, ours.calls, strict=True):
            differs = abs(other.instructions - one.instructions)
            assert differs <= elsewhere(one.name) * one.instructions, one.name
            assert abs(other.lines - one.lines) <= straddled(one.lines)
    assert abs(cost_table.overhead(base, unpatched, ["files"])) < kernels.BOUND / 20
    assert abs(cost_table.overhead(base, unpatched)) < kernels.BOUND


def test_contexts_that_are_off_cost_next_to_nothing(measured: dict[str, Measured]) -> None:
    unpatched, off = measured["unpatched"], measured["kloc"]
    # Two instructions fewer are chance, too.
    assert -ELSEWHERE < cost_table.overhead(off, unpatched, ["files"]) < kernels.BOUND
    assert cost_table.overhead(off, unpatched) < kernels.BOUND
    assert off.built.bzimage != unpatched.built.bzimage
    for theirs, ours in zip(unpatched.groups, off.groups, strict=True):
        for one, other in zip(theirs.calls, ours.calls, strict=True):
            assert other.lines - one.lines <= straddled(one.lines), one.name


def test_the_machine_s_hooks_do_not_grow(measured: dict[str, Measured]) -> None:
    """No server has them, but one that runs this kernel without the model pays no more either.

    The machine's kernel has contexts, too, switched off.
    """
    off, machine = measured["kloc"], measured["machine"]
    assert 0 < cost_table.overhead(machine, off, ["files"]) < kernels.BOUND
    assert 0 < cost_table.overhead(machine, off) < 1.5 * kernels.BOUND


@pytest.mark.parametrize("name", ["chosen", "on"])
def test_contexts_with_nothing_to_do_cost_little(measured: dict[str, Measured], name: str) -> None:
    idle = measured[name]
    assert cost_table.overhead(idle, measured["unpatched"], ["files"]) < kernels.ON_BOUND


def test_pages_are_noted_only_where_room_is_short(measured: dict[str, Measured]) -> None:
    unpatched, on, short = (measured[name] for name in ("unpatched", "on", "short"))
    assert cost_table.overhead(on, unpatched) < cost_table.overhead(short, unpatched)


def test_contexts_take_little_memory(measured: dict[str, Measured]) -> None:
    of = measured["on"].memory
    assert of and of.contexts >= 200
    assert of.knodes < kernels.MEMORY_BOUND * of.pages * cost_table.PAGE
    assert 0 < of.counts < kernels.MEMORY_BOUND * of.memory
