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
from dataclasses import replace
from typing import Any

from kloc import measure, policy, profile, workload
from kloc.paths import PROJECT

BALANCING = "/sys/kernel/debug/sched/numa_balancing"
SPACE: dict[str, dict[str, tuple[str, ...]]] = {
    "tpp": {
        "/proc/sys/vm/watermark_scale_factor": ("10", "100", "400", "1000", "3000"),
        f"{BALANCING}/hot_threshold_ms": ("23", "200", "2000"),
        f"{BALANCING}/scan_period_min_ms": ("6", "23", "100"),
    }
}


def search(name: str, workloads: list[str]) -> dict[str, Any]:
    """Return, by workload, the best settings and every trial with its throughput."""
    plain = replace(policy.load(name), tuned={})
    host = profile.load(profile.DEFAULT)
    parts = measure.prepare([workload.load(each) for each in workloads])
    found: dict[str, Any] = {each: {"best": {}, "trials": []} for each in workloads}
    promoted = dict.fromkeys(workloads, True)
    for setting, values in SPACE[name].items():
        tasks = []
        tried_here = [each for each in workloads if promoted[each] or BALANCING not in setting]
        for each in tried_here:
            for value in values:
                tried = {**found[each]["best"], setting: value}
                chosen = replace(plain, tuned={each: tried})
                tasks.append(measure.Task(workload.load(each), chosen, host, 1, workload.FULL))
        if not tasks:
            continue
        runs = measure.measure(tasks, [plain], parts)
        for run in runs:
            tried = {path: run["settings"][path] for path in SPACE[name] if path in run["settings"]}
            trial = {"settings": tried, "throughput": run["throughput"]}
            found[run["workload"]]["trials"].append(trial)
        for each in tried_here:
            mine = [run for run in runs if run["workload"] == each]
            best = max(mine, key=lambda run: run["throughput"])
            found[each]["best"][setting] = best["settings"][setting]
            promoted[each] = _promotes(best)
    return found


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
    found = search(args.policy, args.workloads)
    path = PROJECT / "policies" / "search" / f"{args.policy}.json"
    path.parent.mkdir(exist_ok=True)
    before = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**before, **found}, indent=1, sort_keys=True) + "\n")
    print(json.dumps({each: found[each]["best"] for each in found}, indent=1))


if __name__ == "__main__":
    main()
