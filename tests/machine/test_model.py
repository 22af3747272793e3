# SPDX-License-Identifier: GPL-2.0
"""The machine, with programs whose time is known from its profile alone.

All programs run in one machine, twice; the second time shows that nothing but
the profile, the seed and the programs decides.
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
from support.in_machine import SOURCES, kloc_run, result_of

pytestmark = pytest.mark.machine

COMMANDS = {
    "chase fast": "chase 0 16 250000",
    "chase slow": "chase 1 16 250000",
    "read fast": "stream 0 16 8 0",
    "read slow": "stream 1 16 4 0",
    "write fast": "stream 0 16 8 1",
    "write slow": "stream 1 16 4 1",
    # Half of the last-level cache, whose sets frames do not fill evenly.
    "small": "small 1 512 200",
}
TOLERANCE = 0.01


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs, and a script that runs them all."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("chase", "stream", "small"):
        shutil.copy(programs.build(SOURCES / f"{name}.c"), folder)
    script = folder / "all"
    script.write_text("\n".join(f"{folder}/{line}" for line in COMMANDS.values()) + "\n")
    return folder


def run_all(folder: Path, result: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return what each program said, and the run's result."""
    options = ["--policy", "stock", "--json", result, "--copy", folder]
    done = kloc_run(*options, "--", "sh", "-e", folder / "all")
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return said, result_of(result)


@pytest.fixture(scope="module")
def runs(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    results = tmp_path_factory.mktemp("results")
    return [run_all(folder, results / f"{number}.json") for number in (1, 2)]


@pytest.fixture(scope="module")
def said(runs: list[Any]) -> Mapping[str, dict[str, Any]]:
    """What each program of COMMANDS said."""
    return dict(zip(COMMANDS, runs[0][0], strict=True))


@pytest.fixture(scope="module")
def machine() -> profile.Profile:
    return profile.load(profile.DEFAULT)


def stall_ns(program: Mapping[str, Any], machine: profile.Profile) -> float:
    """Return what the program waited for memory, by its own clocks."""
    computing = program["instructions"] * machine.cpu.ns_per_instruction
    return float(program["elapsed_ns"] - computing)


def tier_of(name: str, machine: profile.Profile) -> profile.Tier:
    return machine.fast if name.endswith("fast") else machine.slow


@pytest.mark.parametrize("name", ["chase fast", "chase slow"])
def test_a_chase_has_its_node_s_latency(
    name: str, said: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program = said[name]
    latency = stall_ns(program, machine) / program["accesses"]
    assert latency == pytest.approx(tier_of(name, machine).read_latency_ns, rel=TOLERANCE)


@pytest.mark.parametrize("name", ["read fast", "read slow"])
def test_a_stream_has_its_node_s_bandwidth(
    name: str, said: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program = said[name]
    rate = program["bytes"] / program["elapsed_ns"]
    assert rate == pytest.approx(tier_of(name, machine).read_bandwidth, rel=TOLERANCE)


@pytest.mark.parametrize("name", ["write fast", "write slow"])
def test_a_written_stream_is_read_and_written_back(
    name: str, said: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program, tier = said[name], tier_of(name, machine)
    rate = program["bytes"] / program["elapsed_ns"]
    expected = 1 / (1 / tier.read_bandwidth + 1 / tier.write_bandwidth)
    assert rate == pytest.approx(expected, rel=TOLERANCE)


def test_what_fits_the_cache_does_not_stall(
    said: Mapping[str, dict[str, Any]], machine: profile.Profile
) -> None:
    program = said["small"]
    assert stall_ns(program, machine) < TOLERANCE * program["elapsed_ns"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_stall_is_the_stalled_task_s_time(name: str, said: Mapping[str, dict[str, Any]]) -> None:
    assert said[name]["cpu_ns"] == pytest.approx(said[name]["elapsed_ns"], rel=TOLERANCE)


def test_the_guest_s_clock_is_the_model_s(runs: list[Any]) -> None:
    assert abs(runs[0][1]["clock_error"]) < TOLERANCE


def test_stalls_are_attributed(runs: list[Any], machine: profile.Profile) -> None:
    stalls = runs[0][1]["stall_ns"]
    for name, tier in (("fast", machine.fast), ("slow", machine.slow)):
        least = 250_000 * tier.read_latency_ns
        assert stalls[name]["anon"]["user"] > least
        assert "unknown" not in stalls[name]
    assert any(kind.startswith("slab:") for kind in stalls["fast"])


def test_a_run_is_repeated_bit_for_bit(runs: list[Any]) -> None:
    assert runs[0] == runs[1]
