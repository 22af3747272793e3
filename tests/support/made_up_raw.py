# SPDX-License-Identifier: GPL-2.0
"""Made-up raw output of the machine, and the result that kloc makes of it."""

from __future__ import annotations

from typing import Any

from kloc.machine import profile
from kloc.machine.job import Job, Raw
from kloc.measure import policy, record
from kloc.measure.workload import Outcome

VMSTAT = (
    "numa_hint_faults {}\npgpromote_success {}\npgsteal_kswapd {}\npgdemote_kswapd {}\n"
    "pgsteal_khugepaged {}\npgdemote_khugepaged {}\n"
)
MODEL: dict[str, Any] = {
    "time_ns": 2_000_000_000,
    "monotonic_ns": 2_000_000_100,
    "idle_ns": 5,
    "storage_wait_ns": 4,
    "instructions": {"user": 10, "kernel": 20},
    "stall_ns": {"fast": {"anon": {"user": 1, "kernel": 2}}, "slow": {}},
    "misses": {"fast": {}, "slow": {}},
    "background": {"kswapd0": {"instructions": 7, "stall_ns": 3}},
    "background_excess_ns": 0,
    "traffic_bytes": {"fast": {"read": 64}},
    "pages": {"fast": {"free": 9}},
    "migrated": {"promoted": {"anon": 0}, "demoted": {"file": 4}},
    "moved": {"promoted": {}, "demoted": {"demotion": 4}},
    "series": {"t_ns": [1, 2], "pages": {"fast": {"anon": [10, 21]}, "slow": {"anon": [4, 4]}}},
}


def run(
    name: str = "tpp",
    model: dict[str, Any] | None = None,
    console: str = "",
    evicted: int = 0,
    log: str | None = None,
) -> record.Run:
    """Return the result of a run under the policy `name`."""
    job = Job("w", profile.load("tiered"), {}, seed=3)
    frames = {
        "vmstat_begin": VMSTAT.format(1, 1, 1, 1, 1, 1),
        "vmstat_end": VMSTAT.format(11, 1, 5 + evicted, 5, 3, 3),
    }
    if log is not None:
        frames["kernel"] = log
    raw = Raw(frames, MODEL if model is None else model, None, console)
    return record.from_raw(job, policy.load(name), Outcome(100, {"p50": 1.0}), raw)
