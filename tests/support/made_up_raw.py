# SPDX-License-Identifier: GPL-2.0
"""Made-up raw output of the machine, and the result that kloc makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    "cores": [
        *({"user": 2, "kernel": 4, "stall_ns": 1, "idle_ns": idle} for idle in (1, 2, 3, 4)),
        {"user": 2, "kernel": 4, "stall_ns": 0, "idle_ns": 100},
    ],
    "instructions": {"user": 10, "kernel": 20},
    "waits_ns": {"value": 3, "window": 0, "full": 0, "store": 0, "bandwidth": 0},
    "tlb": {"stlb_hits": 1, "walks": 2, "walk_ns": 3},
    "stall_ns": {"fast": {"anon": {"user": 1, "kernel": 2}}, "slow": {}},
    "misses": {"fast": {}, "slow": {}},
    "unserved_ns": {"fast": 0, "slow": 0},
    "migrated_by": {"kswapd0": 4},
    "traffic_bytes": {"fast": {"read": 64}},
    "pages": {"fast": {"free": 9}},
    "migrated": {"promoted": {"anon": 0}, "demoted": {"file": 4}},
    "moved": {"promoted": {}, "demoted": {"demotion": 4}},
    "series": {"t_ns": [1, 2], "pages": {"fast": {"anon": [10, 21]}, "slow": {"anon": [4, 4]}}},
}
OUTCOME = Outcome(100, {"p50": 1.0})
WARM_UP: dict[str, Any] = {
    "time_ns": 3_000_000_000,
    "migrated": {"promoted": {"anon": 2}, "demoted": {"file": 3}},
    "series": {"t_ns": [1], "pages": {"fast": {"anon": [9]}, "slow": {"anon": [5]}}},
}


def stat(idle: Sequence[int]) -> str:
    """Return the lines of /proc/stat about CPUs that were idle for so many ticks."""
    lines = [f"cpu{number} 1 2 3 {ticks} 1 6 7 0 0 0\n" for number, ticks in enumerate(idle)]
    return "".join(["cpu  1 2 3 4 5 6 7 0 0 0\n", *lines])


def run(
    name: str = "tpp",
    model: dict[str, Any] | None = None,
    console: str = "",
    evicted: int = 0,
    log: str | None = None,
    settled: bool = True,
    warm_up: dict[str, Any] | None = WARM_UP,
    more: Mapping[str, str] | None = None,
    cold: bool = False,
    slices: int = 2,
    outcome: Outcome = OUTCOME,
    idle_before: Sequence[int] = (0, 0, 0, 0, 0),
) -> record.Run:
    """Return the result of a run under the policy `name`, after a warm-up unless it is None.

    `more` are further frames of the agent. `idle_before` has the ticks of 10 ms that each core was
    idle between warm-up and region.
    """
    job = Job("w", profile.load("tiered"), {}, seed=3)
    frames = {
        "vmstat_begin": VMSTAT.format(1, 1, 1, 1, 1, 1),
        "vmstat_end": VMSTAT.format(11, 1, 5 + evicted, 5, 3, 3),
        "stat_ready": stat(idle=[100] * 5),
        "stat_begin": stat(idle=[100 + ticks for ticks in idle_before]),
        "stat_end": "cpu 1 2 3 4 8 6 7 0 0 0\n",
        "kthreads_begin": "kswapd0 100\nkloc_node0 5\n",
        "kthreads_end": "kswapd0 107\nkloc_node0 5\n",
        "warm_slices": "".join(f"{i} {899 + i} {8 - i}\n" for i in range(1, slices + 1)),
        **({"settled": "yes"} if settled else {}),
    }
    frames.update(more or {})
    if log is not None:
        frames["kernel"] = log
    raw = Raw(frames, MODEL if model is None else model, None, console, warm_up)
    return record.from_raw(job, policy.load(name), outcome, raw, cold=cold)
