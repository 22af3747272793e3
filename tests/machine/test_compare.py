# SPDX-License-Identifier: GPL-2.0
"""`kloc compare` measures RocksDB and Redis: its table, its JSON file and its notes agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from kloc.base.paths import PROJECT
from kloc.machine import profile
from kloc.measure.run_notes import IDLE_BEFORE_MAX_NS

pytestmark = pytest.mark.machine

POLICIES = {
    "rocksdb": ["all-slow", "kloc", "oracle", "all-fast"],
    "redis": ["all-slow", "kloc", "all-fast"],
}
"""What is compared. Each run takes more than a minute of the host's time."""

SPREAD = 0.05
"""By how much the throughput of a quick region may differ by luck. Placement is worth more."""


@pytest.fixture(scope="module", params=list(POLICIES))
def compared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, Any]]:
    """What the command prints, and the document that it writes."""
    path = tmp_path_factory.mktemp("compare") / "result.json"
    options = ["--quick", "--policies", ",".join(POLICIES[request.param]), "--json", str(path)]
    done = subprocess.run(
        [sys.executable, "-m", "kloc", "compare", request.param, *options],
        cwd=PROJECT / "src",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(path.read_text())


def test_the_table_has_the_throughputs_of_the_document(
    compared: tuple[str, dict[str, Any]],
) -> None:
    text, document = compared
    ops = {run["policy"]: run["throughput"] for run in document["runs"]}
    assert list(ops) in POLICIES.values()
    for policy, throughput in ops.items():
        (row,) = re.findall(rf"^ {policy} .*$", text, re.M)
        times, share = throughput / ops["all-slow"], 100 * throughput / ops["all-fast"]
        assert row.split() == [policy, f"{throughput:,.0f}", f"{times:.2f}", f"{share:.0f}", "%"]


def test_placement_matters_and_the_bounds_are_bounds(
    compared: tuple[str, dict[str, Any]],
) -> None:
    ops = {run["policy"]: run["throughput"] for run in compared[1]["runs"]}
    slow, fast = ops.pop("all-slow"), ops.pop("all-fast")
    assert (1 + SPREAD) * slow < min(ops.values())
    assert max(ops.values()) < (1 + SPREAD) * fast


def test_every_run_warmed_up_and_used_all_cores(compared: tuple[str, dict[str, Any]]) -> None:
    host = profile.load(profile.DEFAULT)
    for run in compared[1]["runs"]:
        assert run["warm_up"]["slices"] and run["seconds"] > 0
        assert run["clock_error"] < 0.001
        assert len(run["by_core"]) == host.cores + host.spare_cores
        assert all(core["user"] > 1e6 for core in run["by_core"][: host.cores])


def test_nothing_waits_between_warm_up_and_region(compared: tuple[str, dict[str, Any]]) -> None:
    for run in compared[1]["runs"]:
        assert run["idle_before_ns"] <= IDLE_BEFORE_MAX_NS * run["cores"], run["policy"]


def test_the_notes_of_the_document_are_printed(compared: tuple[str, dict[str, Any]]) -> None:
    text, document = compared
    printed = " ".join(text.split())
    for run in document["runs"]:
        for note in run["notes"]:
            assert note in printed, run["policy"]
