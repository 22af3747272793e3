# SPDX-License-Identifier: GPL-2.0
"""Policies of memory tiers on machines with other nodes than a fast and a slow one."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kloc.machine import profile
from kloc.measure import policy
from support import selftests
from support.topologies import MACHINES, NO_POLICY, SCRIPTS, path, setup

pytestmark = pytest.mark.machine

PROFILE = profile.read(profile.DEFAULT)
"""What a machine has in addition to its nodes."""

CASES = [(machine, script) for machine, scripts in SCRIPTS.items() for script in scripts]

Printer = Callable[[str], selftests.Printed]
"""Runs the chosen selftests on a machine, and returns their output."""


@pytest.fixture(scope="module")
def printed(request: pytest.FixtureRequest) -> Printer:
    """A function that boots a machine once, and runs the selftests that are chosen for it."""
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    chosen = {(spec.params.get("machine"), spec.params.get("script")) for spec in specs if spec}

    @selftests.once
    def run(machine: str) -> selftests.Printed:
        scripts = [path(script) for script in SCRIPTS[machine] if (machine, script) in chosen]
        described = MACHINES[machine]
        job = selftests.job(
            scripts,
            PROFILE,
            {**policy.load("kloc").settings("", PROFILE), **NO_POLICY},
            setup=setup(machine),
            topology=described.topology,
        )
        return selftests.run(job)

    return run


UNKNOWN = {
    ("two_zones", "two_zones"): "kswapd evicts page cache while the test counts what comes; why it "
    "runs is not known",
    ("movable", "movable"): "on a busy host, a block of ZONE_MOVABLE does not go offline for "
    "minutes, nor at the next try; which page stays is not known",
}
"""Selftests that fail now and then, each with what is known of the cause."""


@pytest.mark.parametrize(
    ("machine", "script"),
    [
        pytest.param(*case, marks=pytest.mark.xfail(reason=UNKNOWN[case]))
        if case in UNKNOWN
        else case
        for case in CASES
    ],
)
def test_selftest_passes(printed: Printer, machine: str, script: str) -> None:
    selftests.check(printed(machine), path(script))


def test_each_shape_that_the_selftests_know_has_a_machine() -> None:
    shapes = re.search(r'^shapes="(.*)"$', (selftests.TOPOLOGY / "_topology.sh").read_text(), re.M)
    assert shapes and {*shapes[1].split(), "one_tier"} == MACHINES.keys() == SCRIPTS.keys()


def test_each_selftest_of_topologies_runs_on_a_machine() -> None:
    run = {path(script) for scripts in SCRIPTS.values() for script in scripts}
    assert {f"topology/{one.name}" for one in selftests.TOPOLOGY.glob("[!_]*.sh")} <= run
