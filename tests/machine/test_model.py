# SPDX-License-Identifier: GPL-2.0
"""The timing model: programs with known answers take the time that the machine's profile says.

`kloc bench machine` prints the same answers. A second run of some of them shows that figures depend
on the profile, the seed and the programs only.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from kloc.build import programs
from kloc.machine import profile
from kloc.measure.machine_bench import answers, runner
from support.in_machine import kloc_run, read_run

pytestmark = pytest.mark.machine

TOLERANCE = 0.01

CHASES = 2 * ((64 + 16) << 10)
"""Misses of the program known_latency on two nodes, at least."""


MACHINES = [
    name if name == profile.DEFAULT else pytest.param(name, marks=pytest.mark.soak)
    for name in profile.names()
]


@pytest.fixture(scope="module", params=MACHINES)
def machine(request: pytest.FixtureRequest) -> runner.Measured:
    """The known answers of a profile's machine."""
    (measured,) = runner.measure([profile.load(request.param)], answers.GROUPS)
    return measured


@pytest.mark.parametrize("group", [group.name for group in answers.GROUPS])
def test_known_answers_are_what_the_profile_says(machine: runner.Measured, group: str) -> None:
    found = {each.name: compared for each, compared in machine.groups}
    if group not in found:
        pytest.skip("it takes two sockets")
    off = {one.answer.name: (one.model, one.expected) for one in found[group] if one.is_off}
    assert not off, f"{machine.profile.name}: model and expectation differ"


def test_answers_without_a_tolerance_are_few(machine: runner.Measured) -> None:
    """They are the traffic that cores cause to load a tier, and latencies at saturation."""
    free = {one.answer.name for one in machine.compared if one.answer.tolerance is None}
    traffic = {f"{tier}.traffic.{each}" for tier in answers.TIERS for each in answers.LOADED}
    if machine.profile.sockets > 1:
        traffic.add("sockets.traffic")
    assert free == traffic | {f"{tier}.loaded.96" for tier in answers.TIERS}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, Any]]]:
    """Two runs of programs on all cores: what they printed, and the run in the result file."""
    directory = tmp_path_factory.mktemp("programs")
    names = ("known_latency", "known_bandwidth", "known_cores")
    for name in names:
        shutil.copy(programs.build(answers.SOURCES / f"{name}.c"), directory)
    host = profile.load(profile.DEFAULT)
    script = directory / "all"
    script.write_text(
        f"{directory}/known_latency 0 1 1\n"
        f"{directory}/known_latency 1 {host.cores} {host.slow.read_bandwidth * 1000:.0f}\n"
        f"{directory}/known_bandwidth 0 {host.cores}\n"
        f"{directory}/known_cores {host.cores}\n"
    )
    found = []
    for number in (1, 2):
        result = directory / f"{number}.json"
        options = ["--policy", "stock", "--cold", "--json", result, "--copy", directory]
        process = kloc_run(*options, "--", "sh", "-e", script)
        lines = [line for line in process.stdout.splitlines() if line.startswith("known ")]
        result_run = read_run(result)
        result.unlink()
        found.append(("\n".join(lines), result_run))
    return found


def test_a_repeated_run_on_all_cores_gives_the_same_result(runs: list[Any]) -> None:
    assert "cores.pipe" in runs[0][0]
    assert runs[0] == runs[1]


def test_the_clock_of_the_guest_agrees_with_simulated_time(runs: list[Any]) -> None:
    assert abs(runs[0][1]["clock_error"]) < TOLERANCE


def test_stall_time_is_attributed_to_page_kinds(runs: list[Any]) -> None:
    stalls, host = runs[0][1]["stall_ns"], profile.load(profile.DEFAULT)
    for name, tier in (("fast", host.fast), ("slow", host.slow)):
        assert stalls[name]["anon"]["user"] > CHASES / 2 * tier.read_latency_ns
        assert "unknown" not in stalls[name]
    assert any(kind.startswith("slab:") for kind in stalls["fast"])
