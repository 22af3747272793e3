# SPDX-License-Identifier: GPL-2.0
"""The configurations of DAOS's evaluation in the machine: monitoring, reclaim and huge pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kloc.base.paths import PROJECT
from support.in_machine import kloc_run, read_run

pytestmark = pytest.mark.machine

IDLE_MIB, BUSY_MIB = 24, 1

# Writes to all of its memory once, and then again and again to the first pages of it, for 0.6 s of
# the machine's time. prcl reclaims what was idle for an eighth of a second. A page has a number
# of its own: zram stores nothing for pages with one repeated word.
PROGRAM = f"""
$memory = "x" x ({IDLE_MIB} << 20);
substr($memory, 4096 * $_, 8) = sprintf "%08d", $_ for 0 .. {IDLE_MIB * 256 - 1};
for (1 .. 60) {{
    substr($memory, 4096 * $_, 8) = "accessed" for 0 .. {BUSY_MIB * 256};
    select undef, undef, undef, 0.01;
}}
"""


def measured(directory: Path, policy: str) -> dict[str, Any]:
    """Return the run of PROGRAM under a policy."""
    path = directory / f"{policy}.json"
    kloc_run("--policy", policy, "--json", path, "--", "perl", "-e", PROGRAM)
    return read_run(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The runs by policy."""
    directory = tmp_path_factory.mktemp("daos")
    return {name: measured(directory, name) for name in ("baseline", "rec", "prec", "prcl", "thp")}


def test_memory_of_the_program_is_sampled(runs: dict[str, dict[str, Any]]) -> None:
    for name in ("baseline", "rec", "prec"):
        memory = runs[name]["memory"]
        assert memory["mean"] == pytest.approx(memory["resident"] + memory["swapped"])
        assert memory["mean"] > IDLE_MIB << 20
        assert memory["samples"] > 50
        assert not any("did nothing" in note for note in runs[name]["notes"])


def test_monitoring_takes_time_of_its_thread_and_no_memory(
    runs: dict[str, dict[str, Any]],
) -> None:
    baseline = runs["baseline"]
    assert "kdamond.0" not in baseline["background"]
    for name in ("rec", "prec"):
        assert 0 < runs[name]["background"]["kdamond.0"]["time_ns"] < 0.1e9
        assert runs[name]["memory"]["mean"] == pytest.approx(baseline["memory"]["mean"], rel=0.05)


def test_prcl_reclaims_the_idle_memory_of_the_program(runs: dict[str, dict[str, Any]]) -> None:
    memory, scheme = runs["prcl"]["memory"], runs["prcl"]["scheme"]
    assert memory["mean"] < 0.7 * runs["baseline"]["memory"]["mean"]
    # What zram holds counts, and is less than what it was.
    assert 0 < memory["swapped"] < 0.2 * (IDLE_MIB << 20)
    assert scheme["name"] == "prcl"
    assert scheme["stats"][0]["sz_tried"] > IDLE_MIB << 19


def test_thp_gives_the_program_huge_pages(runs: dict[str, dict[str, Any]]) -> None:
    assert runs["thp"]["tlb"]["walks"] < 0.9 * runs["baseline"]["tlb"]["walks"]
    assert not any("did nothing" in note for note in runs["thp"]["notes"])


def test_a_scheme_that_ends_before_the_measurement_does_is_an_error() -> None:
    off = "echo off >/sys/kernel/mm/damon/admin/kdamonds/0/state"
    failed = kloc_run("--policy", "rec", "--", "sh", "-c", off, status=1)
    assert "DAMON stopped before the measured region ended" in failed.stderr


def test_a_scheme_is_tuned_for_a_workload_in_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    options = ["--samples", "3", "--quick", "--json", str(path)]
    done = subprocess.run(
        [sys.executable, "-m", "support.tiny_workload", "tune", "prcl", "tiny", *options],
        env={**os.environ, "PYTHONPATH": f"{PROJECT / 'src'}:{PROJECT / 'tests'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    assert result["settings"]["workload"] == "tiny" and result["settings"]["seed"] == 101
    runs = [result["none"], result["untuned"], *result["samples"]]
    assert len(runs) == 5
    assert all(one["runtime"] > 0 and one["memory"] > 1 << 20 for one in runs)
    # The same run twice has the same figures: another value of the threshold has others.
    assert len({(one["runtime"], one["memory"]) for one in runs}) > 2
