# SPDX-License-Identifier: GPL-2.0
"""The timing model: test programs take the time that follows from the machine's profile.

All programs run in one machine, in two runs. The second run shows that figures depend on the
profile, the seed and the programs only.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kloc.build import programs
from kloc.machine import profile
from support.in_machine import SOURCES, kloc_run, read_run

pytestmark = pytest.mark.machine

COMMANDS = {
    "chase fast": "chase 0 16 250000",
    "chase slow": "chase 1 16 250000",
    "read fast": "stream 0 16 8 0",
    "read slow": "stream 1 16 4 0",
    "write fast": "stream 0 16 8 1",
    "write slow": "stream 1 16 4 1",
    # Half the size of the last-level cache, because page frames do not fill its sets evenly.
    "small": "small 1 512 200",
}
TOLERANCE = 0.01


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the programs, and a script that runs all COMMANDS."""
    directory = tmp_path_factory.mktemp("programs")
    for name in ("chase", "stream", "small"):
        shutil.copy(programs.build(SOURCES / f"{name}.c"), directory)
    script = directory / "all"
    script.write_text("\n".join(f"{directory}/{line}" for line in COMMANDS.values()) + "\n")
    return directory


def run_all(directory: Path, result: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return what each program printed, and the run in the result file."""
    options = ["--policy", "stock", "--json", result, "--copy", directory]
    process = kloc_run(*options, "--", "sh", "-e", directory / "all")
    reports = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    return reports, read_run(result)


@pytest.fixture(scope="module")
def runs(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Two runs of all programs, as run_all returns them."""
    results = tmp_path_factory.mktemp("results")
    return [run_all(directory, results / f"{number}.json") for number in (1, 2)]


@pytest.fixture(scope="module")
def reports(runs: list[Any]) -> Mapping[str, dict[str, Any]]:
    """What each program printed in the first run, by its name in COMMANDS."""
    return dict(zip(COMMANDS, runs[0][0], strict=True))


@pytest.fixture(scope="module")
def machine() -> profile.Profile:
    return profile.load(profile.DEFAULT)


def stall_ns(program: Mapping[str, Any], machine: profile.Profile) -> float:
    """Return how long the program stalled for memory, in ns, by its own clocks."""
    computing = program["instructions"] * machine.cpu.ns_per_instruction
    return float(program["elapsed_ns"] - computing)


def tier_of(name: str, machine: profile.Profile) -> profile.Tier:
    """Return the tier whose memory a program of COMMANDS accesses."""
    return machine.fast if name.endswith("fast") else machine.slow


@pytest.mark.parametrize("name", ["chase fast", "chase slow"])
def test_a_pointer_chase_stalls_for_the_read_latency_of_its_node(
    name: str, reports: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program = reports[name]
    latency = stall_ns(program, machine) / program["accesses"]
    assert latency == pytest.approx(tier_of(name, machine).read_latency_ns, rel=TOLERANCE)


@pytest.mark.parametrize("name", ["read fast", "read slow"])
def test_a_sequential_read_has_the_bandwidth_of_its_node(
    name: str, reports: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program = reports[name]
    rate = program["bytes"] / program["elapsed_ns"]
    assert rate == pytest.approx(tier_of(name, machine).read_bandwidth, rel=TOLERANCE)


@pytest.mark.parametrize("name", ["write fast", "write slow"])
def test_a_sequential_write_reads_each_line_and_writes_it_back(
    name: str, reports: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program, tier = reports[name], tier_of(name, machine)
    rate = program["bytes"] / program["elapsed_ns"]
    expected = 1 / (1 / tier.read_bandwidth + 1 / tier.write_bandwidth)
    assert rate == pytest.approx(expected, rel=TOLERANCE)


def test_accesses_that_fit_the_cache_do_not_stall(
    reports: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program = reports["small"]
    assert stall_ns(program, machine) < TOLERANCE * program["elapsed_ns"]


@pytest.mark.parametrize("name", COMMANDS)
def test_stall_time_is_cpu_time_of_the_stalled_task(
    name: str, reports: Mapping[str, dict[str, Any]]
) -> None:
    program = reports[name]
    assert program["cpu_ns"] == pytest.approx(program["elapsed_ns"], rel=TOLERANCE)


def test_the_clock_of_the_guest_agrees_with_simulated_time(runs: list[Any]) -> None:
    assert abs(runs[0][1]["clock_error"]) < TOLERANCE


def test_stall_time_is_attributed_to_page_kinds(runs: list[Any], machine: profile.Profile) -> None:
    stalls = runs[0][1]["stall_ns"]
    for name, tier in (("fast", machine.fast), ("slow", machine.slow)):
        least = 250_000 * tier.read_latency_ns
        assert stalls[name]["anon"]["user"] > least
        assert "unknown" not in stalls[name]
    assert any(kind.startswith("slab:") for kind in stalls["fast"])


def test_a_repeated_run_gives_the_same_result(runs: list[Any]) -> None:
    assert runs[0] == runs[1]
