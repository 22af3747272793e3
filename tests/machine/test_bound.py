# SPDX-License-Identifier: GPL-2.0
"""A policy with a bound in the machine: its budgets in results, and `kloc cold --bound`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.in_machine import kloc_run, read_run

pytestmark = pytest.mark.machine

COLD, HOT = 32, 8
"""MiB that the program has written once, and that it uses all the time."""

SECONDS = 1.5
"""For how long the program uses a processor. A period takes 0.23 s, and looks at a quarter."""

PROGRAM = f"""
$cold = "x" x ({COLD} << 20);
$hot = "x" x ({HOT} << 20);
while ((times)[0] < {SECONDS}) {{
    substr($hot, 4096 * $_, 1) = "y" for 0 .. {HOT * 256 - 1};
}}
"""

COMMAND = f"""
perl -e '{PROGRAM}' &
sleep 1
kloc cold --bound 3 --for 0.1s --json -
wait
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """The run, and what kloc cold printed in it."""
    path = tmp_path_factory.mktemp("bound") / "run.json"
    arguments = ("--policy", "thermostat", "--with-kloc", "--json", path)
    printed = kloc_run(*arguments, "--", "sh", "-ec", COMMAND).stdout
    begin, end = printed.index("{"), printed.rindex("}") + 1
    return read_run(path), json.loads(printed[begin:end])


def test_results_have_the_budgets_over_the_region(
    measured: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    run, _ = measured
    bound = run["bound"]
    series = bound["series"]
    inside = [at for at, time in enumerate(series["t_ns"]) if 0 <= time <= 1e9 * run["seconds"]]
    assert bound["percent"] == 3
    # One in 20 ms, some of which are late: the sampler shares its core with what it watches.
    assert len(inside) > 0.5 * run["seconds"] / 0.02
    assert bound["counted"] > 10
    # 3 % of the time of the one to five processors that work.
    assert 5e6 < max(series["budget_ns"][at] for at in inside) < 150e6
    # perl has copied what was cold.
    assert 0 < max(series["cold_bytes"][at] for at in inside) <= (2 * COLD + HOT + 16) << 20


def test_cold_memory_is_printed_with_its_cost(
    measured: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    _, content = measured
    states = {one["state"] for one in content["regions"]}
    assert "cold" in states
    visits = [one["visits"] for one in content["regions"]]
    assert visits == sorted(visits)
    within = content["within"]
    assert 0 < within["regions"] <= len(visits)
    assert within["cost_ns"] == content["visit_ns"] * sum(visits[: within["regions"]])
    assert within["cost_ns"] <= content["budget_ns"] < 0.03 * 5e9
