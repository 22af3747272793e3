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

MEMORY = {"fast": "/fast", "slow": "/slow", "page": "/page"}
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
    assert tiers == ["tier=fast,80.0,80.0,7.5,7.5,64", "tier=slow,240.0,240.0,0.9375,0.9375,64"]


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
