# SPDX-License-Identifier: GPL-2.0
"""Results that nobody measured, for the tests of what shows results."""

from __future__ import annotations

from typing import Any


def run(policy: str, throughput: float, workload: str = "redis", **other: Any) -> dict[str, Any]:
    """Return a run of a thousand operations at `throughput` a second, but for what `other` says."""
    seconds = 1000 / throughput
    return {
        "workload": workload,
        "policy": policy,
        "settings": {"/proc/sys/kernel/numa_balancing": "0"},
        "machine": {"name": "tiered", "fast_bytes": 192 << 20, "slow_bytes": 1280 << 20},
        "seed": 1,
        "cores": 1,
        "operations": 1000,
        "seconds": seconds,
        "throughput": throughput,
        "latency_ns": {"p50": 1500.0, "p95": 2e6, "p99": 3e9},
        "stall_ns": {
            "fast": {"anon": {"user": 0.1e9 * seconds, "kernel": 0}},
            "slow": {
                "anon": {"user": 0.2e9 * seconds},
                "slab:dentry": {"kernel": 0.1e9 * seconds},
            },
        },
        "idle_ns": 0.1e9 * seconds,
        "storage_wait_ns": 0.06e9 * seconds,
        "background": {
            "kswapd0": {"instructions": 9, "stall_ns": 5, "time_ns": 5e7, "migrated": 12},
            "kcompactd0": {"instructions": 3, "stall_ns": 0, "time_ns": 1, "migrated": 0},
        },
        "background_excess_ns": 0,
        "migrated_pages": {"promoted": {"anon": 3}, "demoted": {"file": 4}},
        "series": {
            "t_ns": [5_000_000, 10_000_000, 15_000_000],
            "promoted": [0, 40, 60],
            "demoted": [0, 0, 30],
            "pages_fast": {"anon": [256, 512, 512], "free": [900, 700, 700]},
            "pages_slow": {"slab:dentry": [256, 256, 256], "slab:filp": [0, 256, 0]},
        },
        "hint_faults": 7,
        "computed": False,
        "notes": [],
        **other,
    }
