# SPDX-License-Identifier: GPL-2.0
"""A kernel of Debian's, from its package, runs a workload: its times and the oracle are right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from kloc.build import foreign_kernel
from kloc.machine import profile
from kloc.machine.memory import DMA_ZONE
from kloc.machine.profile import Tier
from kloc.measure import workload
from kloc.measure.machine_bench import answers
from kloc.measure.workload import Outcome, Size, Workload, WorkloadFailed
from support.command import run
from support.in_machine import MIB_OF_PAGES

pytestmark = pytest.mark.machine

CHASED_MIB = 32
"""The memory that known_latency chases through."""

MEASURED = "known_latency 0 1 1\nknown_latency 1 1 1\n"
"""Dependent loads from memory on the fast node, and on the slow node."""

POLICIES = ("all-slow", "naive", "stock", "kloc", "oracle")


def outcome(printed: Mapping[str, str], _: Size) -> Outcome:
    """Return the mean latencies on both nodes in ns, as percentiles to have them in the result."""
    words = [line.split() for line in printed["measured"].splitlines()]
    fast, slow = (float(value) for _, name, value, _ in words if name.endswith(".idle"))
    if not fast or not slow:
        raise WorkloadFailed("no latency")
    return Outcome(2, {"p50": fast, "p95": slow})


LATENCY = Workload(
    name="latency",
    summary="latencies of both tiers",
    packages=(),
    setup=lambda *_: "true\n",
    measured=lambda *_: MEASURED,
    check=None,
    outcome=outcome,
    programs=(str(answers.SOURCES / "known_latency.c"),),
    repeatable=False,
)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of `kloc compare latency` on the kernel."""
    path = tmp_path_factory.mktemp("any") / "result.json"
    known = workload.names()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workload, "names", lambda: [*known, LATENCY.name])
        patch.setattr(workload, "load", lambda _: LATENCY)
        options = ["--kernel", foreign_kernel.TESTED, "--policies", ",".join(POLICIES)]
        assert run("compare", LATENCY.name, *options, "--json", str(path)) == 0
    content: dict[str, Any] = json.loads(path.read_text())
    return content


@pytest.fixture
def runs(document: dict[str, Any]) -> dict[str, Any]:
    """The runs of the document, by policy."""
    return {one["policy"]: one for one in document["runs"]}


def test_the_result_names_the_kernel_and_its_package(document: dict[str, Any]) -> None:
    kernel = document["kernel"]
    assert kernel["package"] == f"linux-image-{kernel['release']}"
    assert kernel["release"].endswith("-cloud-amd64") and kernel["version"]


def idle_latency(tier: Tier) -> float:
    """Return the latency of one load after the other in ns, on the tier's curve of utilization."""
    latency = tier.read_latency_ns
    for _ in range(10):
        points = list(zip(*tier.loaded, strict=True))
        utilization = tier.unit / latency / tier.read_bandwidth
        latency = tier.read_latency_ns * float(np.interp(utilization, *points))
    return latency


def test_memory_has_the_latencies_of_the_profile(runs: dict[str, Any]) -> None:
    host = profile.load(profile.DEFAULT)
    fast, slow = idle_latency(host.fast), idle_latency(host.slow)
    expected = {"stock": (fast, slow), "all-slow": (slow, slow)}
    for policy, latencies in expected.items():
        found = list(runs[policy]["latency_ns"].values())
        assert found == pytest.approx(latencies, rel=0.01), policy
        assert runs[policy]["clock_error"] < 0.001


def test_the_oracle_places_the_memory_of_both_nodes_in_free_fast_memory(
    runs: dict[str, Any],
) -> None:
    host = profile.load(profile.DEFAULT)
    counts = runs["oracle"]["oracle"]
    assert counts["chosen_frames"] > 2 * CHASED_MIB * MIB_OF_PAGES
    # Frames of the kernel itself are not free: its text alone has 16 MiB.
    kernel, dma_zone = 20 * MIB_OF_PAGES, DMA_ZONE // 4096
    assert counts["held_frames"] > dma_zone + kernel
    frames = counts["held_frames"] + counts["chosen_frames"]
    assert frames <= host.fast.capacity // 4096 + dma_zone
    # The second run takes another time, so that its kernel uses a few other frames.
    fast, slow = idle_latency(host.fast), idle_latency(host.slow)
    for found in runs["oracle"]["latency_ns"].values():
        assert found < fast + 0.2 * (slow - fast)


def test_policies_that_the_kernel_lacks_are_left_out_and_notes_say_what_is_missing(
    runs: dict[str, Any],
) -> None:
    assert set(runs) == set(POLICIES) - {"kloc"}
    for one in runs.values():
        assert set(one["stall_ns"]["slow"]) | set(one["stall_ns"]["fast"]) == {"unknown"}
        assert not one["tiering"]
        notes = " ".join(one["notes"])
        assert "kinds of pages are unknown" in notes
        assert "left out: kloc (the kernel has no /sys/kernel/mm/tiering" in notes
