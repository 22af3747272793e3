# SPDX-License-Identifier: GPL-2.0
"""What our patches cost while they are off, against the unpatched kernel."""

from __future__ import annotations

import pytest

from kloc import cost
from kloc.cost import Measured

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    """Every column, by name."""
    return {each.column.name: each for each in cost.measure(cost.COLUMNS)}


def test_what_is_configured_out_costs_nothing(measured: dict[str, Measured]) -> None:
    unpatched, base = measured["unpatched"], measured["base"]
    for theirs, ours in zip(unpatched.groups, base.groups, strict=True):
        assert ours.calls == theirs.calls
    assert abs(cost.change(base, unpatched)) < cost.BOUND / 10


def test_what_is_off_stays_within_its_bound(measured: dict[str, Measured]) -> None:
    unpatched, machine = measured["unpatched"], measured["machine"]
    assert cost.change(machine, unpatched, ["files"]) < cost.BOUND
    assert cost.change(machine, unpatched) < cost.BOUND
