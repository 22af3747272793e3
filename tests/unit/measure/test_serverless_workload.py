# SPDX-License-Identifier: GPL-2.0
"""serverless: its figures are read from what the client prints."""

from __future__ import annotations

import re

import pytest

from kloc.machine import profile
from kloc.measure import workload
from kloc.measure.workload import FULL, WorkloadFailed

OTHERS = 1_999


def printed(done: int = OTHERS) -> dict[str, str]:
    resident = "".join(f"rss {ms} {65_536 if ms < 2000 else 16_384}\n" for ms in range(0, 6001, 99))
    return {"measured": f"{resident}first 250000\ntime 4000 5000 {done}\n"}


def test_resident_memory_and_the_first_request_are_figures() -> None:
    outcome = workload.load("serverless").outcome(printed(), FULL)
    assert outcome.operations == 2_000
    assert outcome.figures == {
        "first request, us": 250.0,
        "RSS at 0 s, MiB": 64.0,
        "RSS at 1.5 s, MiB": 64.0,
        "RSS at 3 s, MiB": 16.0,
        "RSS at 4.5 s, MiB": 16.0,
        "RSS at 6 s, MiB": 16.0,
    }
    assert outcome.latency_ns is not None and 4_000 < outcome.latency_ns["p50"] < 5_000


def test_a_missing_answer_is_an_error() -> None:
    with pytest.raises(WorkloadFailed, match="1999 of 2000"):
        workload.load("serverless").outcome(printed(OTHERS - 1), FULL)


def test_the_idle_time_is_longer_than_the_age_of_the_scheme() -> None:
    """Also with --quick: the age is the same. It is 30 s of the full-size machine."""
    scale = profile.load("tiered").scale
    for size in (workload.FULL, workload.QUICK):
        (idle,) = re.findall(r"idle=(\d+)", workload.load("serverless").measured(size, 1))
        assert int(idle) / 1000 > 2 * 30 / scale
