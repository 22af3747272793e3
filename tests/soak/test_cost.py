# SPDX-License-Identifier: GPL-2.0
"""What our patches cost while they are off, against the unpatched kernel."""

from __future__ import annotations

import pytest

from kloc import cost
from kloc.cost import Measured

pytestmark = pytest.mark.soak

STRADDLED = 5
"""How many lines a call may touch more or fewer for where a kernel's variables lie."""


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    """Every column, by name."""
    return {each.column.name: each for each in cost.measure(cost.COLUMNS)}


def test_what_is_configured_out_costs_nothing(measured: dict[str, Measured]) -> None:
    """Fork meets pages and objects in another order on another kernel; the rest is the same."""
    unpatched, base = measured["unpatched"], measured["base"]
    for theirs, ours in zip(unpatched.groups, base.groups, strict=True):
        for one, other in zip(theirs.calls, ours.calls, strict=True):
            assert abs(other.instructions - one.instructions) <= 0.0002 * one.instructions
            assert abs(other.lines - one.lines) <= STRADDLED
    assert abs(cost.change(base, unpatched, ["files"])) < cost.BOUND / 20
    assert abs(cost.change(base, unpatched)) < cost.BOUND


def test_contexts_that_are_off_cost_next_to_nothing(measured: dict[str, Measured]) -> None:
    unpatched, off = measured["unpatched"], measured["kloc"]
    assert 0 < cost.change(off, unpatched, ["files"]) < cost.BOUND
    assert cost.change(off, unpatched) < cost.BOUND
    for theirs, ours in zip(unpatched.groups, off.groups, strict=True):
        for one, other in zip(theirs.calls, ours.calls, strict=True):
            assert other.lines - one.lines <= STRADDLED, one.name


def test_the_machine_s_hooks_do_not_grow(measured: dict[str, Measured]) -> None:
    """No server has them, but one that runs this kernel without the model pays no more either.

    The machine's kernel has contexts, too, switched off.
    """
    off, machine = measured["kloc"], measured["machine"]
    assert 0 < cost.change(machine, off, ["files"]) < cost.BOUND
    assert 0 < cost.change(machine, off) < 1.5 * cost.BOUND
