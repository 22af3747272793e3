# SPDX-License-Identifier: GPL-2.0
"""The timing model's configuration describes the machine and the job's options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
