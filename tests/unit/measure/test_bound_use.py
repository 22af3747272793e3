# SPDX-License-Identifier: GPL-2.0
"""The budgets of a policy with a bound in a record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.measure import bound_use
from kloc.results import schema
from support import made_up, made_up_raw

SAMPLES = """\
fault_ns 500
1000 70 0 0 0 5
3000 80 10 2 1 25
region
5000 90 20 4 1 45
7000 60 30 5 4 145
"""
"""Two samples of the warm-up, and two of the region."""

MIB = 1 << 20


def test_times_are_from_the_beginning_of_the_region() -> None:
    found = bound_use.bound({"bound": SAMPLES}, 3.0)
    assert found is not None
    assert found["series"]["t_ns"] == [-4000, -2000, 0, 2000]
    assert found["series"]["budget_ns"] == [70, 80, 90, 60]
    assert found["series"]["cost_ns"] == [0, 10, 20, 30]
    assert found["series"]["cold_bytes"] == [0, 4 * MIB, 8 * MIB, 10 * MIB]
    assert found["series"]["counted"] == [5, 25, 45, 145]


def test_sums_are_those_of_the_region() -> None:
    found = bound_use.bound({"bound": SAMPLES}, 3.0)
    assert found is not None
    assert (found["percent"], found["fault_ns"]) == (3.0, 500)
    assert found["counted"] == 100
    assert found["came_back_bytes"] == 3 * 2 * MIB


def test_only_policies_with_a_bound_have_it() -> None:
    result = made_up_raw.run("thermostat-6", more={"bound": SAMPLES})
    assert result["bound"]["percent"] == 6
    assert "bound" not in made_up_raw.run("thermostat")
    assert "bound" not in made_up_raw.run("tpp", more={"bound": SAMPLES})


def test_the_result_is_accepted() -> None:
    result = made_up_raw.run("thermostat", more={"bound": SAMPLES})
    schema.validate(Path("x.json"), json.loads(json.dumps(made_up.document(result))))


@pytest.mark.parametrize("missing", ["fault_ns 500\n", "region\n", "7000 60 30 5 4 145\n"])
def test_samples_that_are_not_complete_are_an_error(missing: str) -> None:
    with pytest.raises(KlocError, match="budgets of the bound"):
        bound_use.bound({"bound": SAMPLES.replace(missing, "")}, 3.0)
