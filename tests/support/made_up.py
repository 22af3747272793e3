# SPDX-License-Identifier: GPL-2.0
"""Made-up results, for tests of tables and reports."""

from __future__ import annotations

import copy
from typing import Any

PROFILE: dict[str, Any] = {
    "name": "tiered",
    "summary": "slow memory has 3 times the latency",
    "scale": 42.7,
    "cores": 4,
    "spare_cores": 1,
    "cpu": {
        "ns_per_instruction": 0.25,
        "l1": 32 << 10,
        "l1_ways": 8,
        "llc": 1 << 20,
        "llc_ways": 16,
        "llc_latency_ns": 18.0,
        "outstanding": 10,
        "window": 224,
    },
    "fast": {
        "capacity": 192 << 20,
        "read_latency_ns": 80.0,
        "read_bandwidth": 7.5,
        "write_bandwidth": 7.5,
        "unit": 64,
    },
    "slow": {
        "capacity": 1280 << 20,
        "read_latency_ns": 240.0,
        "read_bandwidth": 0.9375,
        "write_bandwidth": 0.9375,
        "unit": 64,
    },
    "storage": {
        "read_latency_us": 80.0,
        "write_latency_us": 20.0,
        "read_bandwidth": 1.2,
        "write_bandwidth": 1.2,
    },
}
"""A machine profile."""


def run(policy: str, throughput: float, workload: str = "redis", **other: Any) -> dict[str, Any]:
    """Return a run of 1000 operations with `throughput` operations/s; `other` replaces keys."""
    seconds = 1000 / throughput
    return {
        "workload": workload,
        "policy": policy,
        "settings": {"/proc/sys/kernel/numa_balancing": "0"},
        "machine": {"name": "tiered", "fast_bytes": 192 << 20, "slow_bytes": 1280 << 20},
        "seed": 1,
        "cores": 1,
        "spare_cores": 1,
        "operations": 1000,
        "seconds": seconds,
        "throughput": throughput,
        "latency_ns": {"p50": 1500.0, "p95": 2e6, "p99": 3e9},
        "instructions": {"user": 6_000_000, "kernel": 2_500_000},
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
            "kswapd0": {"time_ns": 5e7, "migrated": 12},
            "kcompactd0": {"time_ns": 1, "migrated": 0},
        },
        "warm_up": {
            "seconds": 2 * seconds,
            "slices": [{"time_ns": 1e9 * seconds, "moved_pages": 5}] * 2,
            "settled": True,
            "series": {
                "t_ns": [5_000_000, 10_000_000],
                "instructions": [20_000_000, 50_000_000],
                "promoted": [0, 300],
                "demoted": [600, 600],
            },
        },
        "migrated_pages": {"promoted": {"anon": 3}, "demoted": {"file": 4}},
        "series": {
            "t_ns": [5_000_000, 10_000_000, 15_000_000],
            "instructions": [30_000_000, 60_000_000, 90_000_000],
            "promoted": [0, 40, 60],
            "demoted": [0, 0, 30],
            "pages_fast": {"anon": [256, 512, 512], "free": [900, 700, 700]},
            "pages_slow": {"slab:dentry": [256, 256, 256], "slab:filp": [0, 256, 0]},
        },
        "hint_faults": 7,
        "notes": [],
        **other,
    }


def warm_up(*slices: tuple[float, int], **other: Any) -> dict[str, Any]:
    """Return a warm-up with slices of a duration in ms and moved pages; `other` replaces keys."""
    return {
        "seconds": sum(duration for duration, _ in slices) / 1e3,
        "slices": [{"time_ns": 1e6 * duration, "moved_pages": moved} for duration, moved in slices],
        "settled": True,
        **other,
    }


def oracle(throughput: float, workload: str = "redis", **other: Any) -> dict[str, Any]:
    """Return the run of the oracle; `other` replaces keys."""
    frames = {"held_frames": 7, "chosen_frames": 40, "touched_frames": 60}
    return run("oracle", throughput, workload, **{"oracle": frames, **other})


def comparison(**other: Any) -> list[dict[str, Any]]:
    """Return the runs of both bounds, two policies and the oracle; `other` replaces keys."""
    speeds = {"all-slow": 100, "naive": 140, "tpp": 160, "all-fast": 200}
    runs = [run(name, speed, **other) for name, speed in speeds.items()]
    return [*runs, oracle(180, **other)]


def document(*runs: dict[str, Any]) -> dict[str, Any]:
    """Return a document of runs."""
    return {
        "schema": 2,
        "kernel": {"release": "6.12.1", "series": "abc"},
        "versions": {"qemu": "10", "guest": {"libc6": "2.41"}},
        "machine": copy.deepcopy(PROFILE),
        "runs": list(runs),
    }


def object_document() -> dict[str, Any]:
    """Return a document of `kloc objects`."""

    def use(pages: int, share: float, lifetime: float | None) -> dict[str, Any]:
        times = {
            "p50": lifetime,
            "p90": lifetime and 3 * lifetime,
            "p99": lifetime and 9 * lifetime,
        }
        return {
            "pages_allocated": pages,
            "references": share,
            "misses": share,
            "lifetime_ns": times,
            "interval_ns": None,
        }

    small = {"anon": use(60, 0.5, 2e9), "slab:dentry": use(40, 0.5, 36e6)}
    large = {"anon": use(250, 0.25, 2e9), "file": use(750, 0.75, None)}
    return {
        "schema": 2,
        "workload": "redis",
        "policy": "naive",
        "seed": 3,
        "variant": "fast x 2",
        "kernel": {"release": "6.12.1", "series": "abc"},
        "versions": {"qemu": "10"},
        "machine": copy.deepcopy(PROFILE),
        "inputs": {"small": small, "large": large},
    }


def counts(allocated: int, references: int, misses: int, **other: Any) -> dict[str, Any]:
    """Return what the timing model counts of one page kind; `other` replaces keys."""
    return {
        "before": 5,
        "allocated": allocated,
        "freed": 0,
        "references": references,
        "misses": misses,
        "lifetime_ns": [],
        "interval_ns": [],
        **other,
    }


OBJECTS = {
    "unknown": counts(0, 1, 0),
    "other": counts(1, 2, 3),
    "anon": counts(600, 700, 60, lifetime_ns=[[1000, 1100, 90], [2000, 2200, 10]]),
    "file": counts(300, 100, 30, interval_ns=[[4, 5, 1]]),
    "slab:dentry": counts(80, 190, 6),
    "slab:kmalloc-8": counts(1, 1, 0),
    "slab:kmalloc-16": counts(1, 1, 0),
    "slab:jbd2_inode": counts(10, 3, 1, lifetime_ns=[[8, 9, 1]]),
    "slab:jbd2_journal_head": counts(7, 2, 0, lifetime_ns=[[8, 9, 2], [16, 18, 1]]),
    "slab:skbuff_head_cache": counts(4, 2, 1),
    "socket": counts(6, 1, 1),
}
"""The counts of an observed run by page kind; 1010 pages are allocated."""
