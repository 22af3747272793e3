# SPDX-License-Identifier: GPL-2.0
"""The timing model's configuration describes the machine and the job's options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kloc.machine import profile
from kloc.machine.job import Job
from kloc.machine.memory import DMA_ZONE
from kloc.machine.model_config import LIVE, model_config

MEMORY = {"fast": "/fast", "slow": "/slow", "progress": "/progress"}
MIB = 1 << 20


def lines(job: Job) -> list[str]:
    """Return the lines of the job's configuration for a run in /run."""
    return model_config(job, Path("/run"), MEMORY).splitlines()


def test_ranges_have_no_gaps(make_job: Callable[..., Job]) -> None:
    split = 192 * MIB + DMA_ZONE
    ranges = [line for line in lines(make_job()) if line.startswith("ram=")]
    assert ranges == [f"ram=0,0,{split},/fast,0", f"ram=1,{split},{1280 * MIB},/slow,0"]


def test_two_sockets_have_a_link_and_ranges_of_their_own(make_job: Callable[..., Job]) -> None:
    found = lines(make_job(profile=profile.read("four-node")))
    assert found[5:9] == [
        "cores=6",
        "sockets=2",
        "remote=68.0,35.0",
        "remote_loaded=0.0:1.0,0.88:1.53,1.0:7.17",
    ]
    starts = [0, 192 * MIB + DMA_ZONE, 384 * MIB + DMA_ZONE, 1024 * MIB + DMA_ZONE]
    assert [line for line in found if line.startswith("ram=")] == [
        f"ram=0,0,{starts[1]},/fast,0,0",
        f"ram=0,{starts[1]},{192 * MIB},/fast,{starts[1]},1",
        f"ram=1,{starts[2]},{640 * MIB},/slow,0,0",
        f"ram=1,{starts[3]},{640 * MIB},/slow,{640 * MIB},1",
    ]


def test_one_socket_is_not_mentioned(make_job: Callable[..., Job]) -> None:
    """The text is part of a run's inputs, which do not change without a reason."""
    text = "\n".join(lines(make_job()))
    assert "sockets" not in text and "remote" not in text


def test_tiers_have_latency_bandwidth_and_unit(make_job: Callable[..., Job]) -> None:
    tiers = [line for line in lines(make_job()) if line.startswith("tier=")]
    assert tiers == ["tier=fast,80.0,30.0,30.0,64", "tier=slow,240.0,3.75,3.75,64"]


def test_latency_under_load_is_a_curve_of_each_tier(make_job: Callable[..., Job]) -> None:
    curves = [line for line in lines(make_job()) if line.startswith("loaded=")]
    points = "0.0:1.0,0.75:1.48,0.94:1.98,1.0:4.06"
    assert curves == [f"loaded=fast,{points}", f"loaded=slow,{points}"]


def test_cores_have_caches_tlbs_and_lines_under_way(make_job: Callable[..., Job]) -> None:
    expected = {"cores=5", "llc_bytes=622592", "llc_ns=18.0", "outstanding=10", "tlb=64,4"}
    assert expected <= set(lines(make_job()))


def test_files_that_the_model_shares_are_named(make_job: Callable[..., Job]) -> None:
    assert "progress=/progress" in lines(make_job())
    placed = model_config(make_job(), Path("/run"), {**MEMORY, "fast_frames": "/frames"})
    assert "fast_frames=/frames" in placed.splitlines()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"timing": "slow"}, "force_tier=slow"),
        ({"fast_kinds": ("anon", "file")}, "fast_kinds=anon,file"),
        ({"fast_kinds": ()}, "fast_kinds="),
        ({"follow": True}, f"live=/run/{LIVE}"),
        ({"frames": True}, "dump=1"),
        ({"observe": True}, "observe=1"),
    ],
)
def test_options_of_a_job_reach_the_model(
    changes: dict[str, Any], line: str, make_job: Callable[..., Job]
) -> None:
    assert line in lines(make_job(**changes))
    assert line not in lines(make_job())
