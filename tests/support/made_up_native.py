# SPDX-License-Identifier: GPL-2.0
"""Made-up results of a comparison on a server itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MIB = 1 << 20
GIB = 1 << 30

SECONDS = {"stock": (30.0, 30.4, 30.2), "tpp": (24.0, 24.4, 24.2), "kloc": (20.0, 24.6, 22.0)}
"""The seconds of each policy by round."""


def run(policy: str, number: int, place: int, seconds: float, **more: Any) -> dict[str, Any]:
    """Return the record of a run of a command of the user's."""
    return {
        "workload": "bench.sh",
        "policy": policy,
        "seed": number,
        "round": number,
        "place": place,
        "settings": {"/proc/sys/kernel/numa_balancing": "2" if policy != "stock" else "0"},
        "machine": {"name": "db1", "fast_bytes": 64 * GIB, "slow_bytes": 128 * GIB, "variant": ""},
        "cores": 32,
        "cold": True,
        "operations": 1,
        "seconds": seconds,
        "throughput": 1 / seconds,
        "latency_ns": None,
        "cpu_ns": {"user": int(seconds * 20e9), "system": int(seconds * 2e9)},
        "migrated_pages": {
            "promoted": {"lru": 0 if policy == "stock" else 5120, "slab": 0},
            "demoted": {"lru": 2000, "slab": 560},
        },
        "hint_faults": 0 if policy == "stock" else 1000,
        "counters": {"pgpromote_success": 5120},
        "node_bytes": {},
        "memory_bytes": {
            "end": {
                "fast": {"anon": 48 * GIB, "file": 4 * GIB, "kernel": 512 * MIB},
                "slow": {"anon": 24 * GIB, "file": 0, "kernel": 0},
            }
        },
        "settle_seconds": 3.0,
        "spread": None,
        "notes": [],
        "kloc": "0123456789abcdef",
        **more,
    }


def document(
    seconds: Mapping[str, Sequence[float]] = SECONDS, runs: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the document of these runs, or of those with the `seconds` of each policy."""
    made = [
        run(policy, number, place, of_policy[number - 1])
        for number in range(1, len(next(iter(seconds.values()))) + 1)
        for place, (policy, of_policy) in enumerate(seconds.items(), 1)
    ]
    node = {"cpus": "0-31", "bandwidth": 200}
    return {
        "schema": 2,
        "kernel": {"release": "6.12.0-kloc", "version": "#1 SMP", "parameters": "quiet"},
        "versions": {"packages": {}},
        "machine": {"name": "db1"},
        "native": {
            "host": "db1",
            "architecture": "x86_64",
            "cpu": "Made-up CPU",
            "cpus": 32,
            "nodes": {
                "0": {"tier": "fast", "bytes": 64 * GIB, "latency_ns": 90, **node},
                "1": {"tier": "slow", "bytes": 128 * GIB, "cpus": "", "latency_ns": 210},
            },
            "tiers": ["0", "1"],
            "rounds": 3,
            "order": 1,
            "kloc_was": None,
            "left_out": {},
        },
        "runs": list(runs) or made,
    }
