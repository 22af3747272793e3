#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Search for the settings of a policy that give each workload its highest throughput.

    PYTHONPATH=src python3 tools/search_policy.py tpp rocksdb redis

Here python3 must have the packages that pyproject.toml names.

The search is greedy. It starts from the policy without its [for.WORKLOAD] table,
measures each value of the first setting, keeps the best and goes on to the next
setting. Settings of NUMA balancing's scans and hint faults are tried only if the
best run so far promoted pages (at least 1 % of fast memory): otherwise they have
no effect.

Every trial, with its throughput, is written to policies/search/POLICY.json, which
keeps the results of other workloads. Copy the best settings of a workload into the
policy's [for.WORKLOAD] table yourself.

Limits

- Each trial is one run, on machine `tiered` with seed 1, at full size.
- Settings are tried one after the other, not in all combinations.
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
    """Search for the best settings of policy `name` for the workload `what`.

    Returns {"best": settings, "trials": settings and throughput (operations a second) of each}.
    """
    plain = replace(policy.load(name), tuned={})
    host = profile.load(profile.DEFAULT)
    parts = runner.prepare([what])
    best: dict[str, str] = {}
    # Every trial by its settings. The best one so far is not measured again: it is also a trial
    # of the next setting.
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
    """Return the values of the searched settings, "as it is" where the policy writes none."""
    return tuple(settings.get(path, "as it is") for path in SPACE[name])


def _promotes(run: dict[str, Any]) -> bool:
    """Return whether the run promoted at least 1 % of fast memory."""
    pages = sum(run["migrated_pages"]["promoted"].values())
    return bool(pages * 4096 * 100 > run["machine"]["fast_bytes"])


def main() -> None:
    """Search for each workload named on the command line, and write and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policy", choices=SPACE, help="the policy to tune")
    parser.add_argument(
        "workloads", nargs="+", metavar="WORKLOAD", help="a workload to tune the policy for"
    )
    args = parser.parse_args()
    path = PROJECT / "policies" / "search" / f"{args.policy}.json"
    path.parent.mkdir(exist_ok=True)
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in args.workloads:
        found[name] = search(args.policy, workload.load(name))
        # A search takes about an hour: write its result before the next one can fail.
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(name, json.dumps(found[name]["best"], indent=1), flush=True)


if __name__ == "__main__":
    main()
