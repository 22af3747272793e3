#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Search a policy's best settings for each workload, one setting after the other.

    PYTHONPATH=src python3 tools/search_policy.py tpp rocksdb redis

Starts from the policy without what was tuned before, tries each value of the
first setting, keeps the best, goes on to the next; the settings of hint faults
are tried where the best so far promoted pages at all. All values that were tried,
with their throughput (seed 1, machine `tiered`), are written to
policies/search/POLICY.json, beside those of other workloads; the best of each
workload is to be copied into the policy's [for.WORKLOAD].
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kloc.base.paths import PROJECT
from kloc.machine import profile
from kloc.measure import policy, record, runner, task, workload

BALANCING = "/sys/kernel/debug/sched/numa_balancing"
SPACE: dict[str, dict[str, tuple[str, ...]]] = {
    "tpp": {
        "/proc/sys/vm/watermark_scale_factor": ("10", "100", "400", "1000", "2000", "3000"),
        f"{BALANCING}/hot_threshold_ms": ("23", "200", "2000"),
        f"{BALANCING}/scan_period_min_ms": ("6", "23", "100"),
    }
}


def search(name: str, what: workload.Workload) -> dict[str, Any]:
    """Return a workload's best settings and every trial with its throughput."""
    plain = replace(policy.load(name), tuned={})
    host = profile.load(profile.DEFAULT)
    parts = runner.prepare([what])
    best: dict[str, str] = {}
    # Every trial by its settings: the best so far is one of the next setting's.
    runs: dict[tuple[str, ...], record.Run] = {}
    promotes = True
    for setting, values in SPACE[name].items():
        if BALANCING in setting and not promotes:
            continue
        policies = [replace(plain, tuned={what.name: {**best, setting: each}}) for each in values]
        wanted = {_tried(name, each.settings(what.name, host)): each for each in policies}
        tasks = [
            task.Task(what, each, host, 1, workload.FULL)
            for tried, each in wanted.items()
            if tried not in runs
        ]
        for run in runner.measure(tasks, [plain], parts):
            runs[_tried(name, run["settings"])] = run
        fastest = max((runs[tried] for tried in wanted), key=lambda run: run["throughput"])
        best[setting] = fastest["settings"][setting]
        promotes = _promotes(fastest)
    trials = [
        {
            "settings": dict(zip(SPACE[name], tried, strict=True)),
            "throughput": run["throughput"],
        }
        for tried, run in runs.items()
    ]
    return {"best": best, "trials": trials}


def _tried(name: str, settings: Mapping[str, str]) -> tuple[str, ...]:
    """The values of what is searched; the kernel's own where nothing is written."""
    return tuple(settings.get(path, "as it is") for path in SPACE[name])


def _promotes(run: dict[str, Any]) -> bool:
    """Whether it promoted at least a hundredth of fast memory."""
    pages = sum(run["migrated_pages"]["promoted"].values())
    return bool(pages * 4096 * 100 > run["machine"]["fast_bytes"])


def main() -> None:
    """Search, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policy", choices=SPACE)
    parser.add_argument("workloads", nargs="+")
    args = parser.parse_args()
    path = PROJECT / "policies" / "search" / f"{args.policy}.json"
    path.parent.mkdir(exist_ok=True)
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in args.workloads:
        found[name] = search(args.policy, workload.load(name))
        # What took an hour is kept, whatever becomes of the next.
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(name, json.dumps(found[name]["best"], indent=1), flush=True)


if __name__ == "__main__":
    main()
