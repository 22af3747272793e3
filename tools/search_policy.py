#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Search for the settings of a policy that give each workload its highest throughput.

    PYTHONPATH=src python3 tools/search_policy.py tpp rocksdb redis
    PYTHONPATH=src python3 tools/search_policy.py tpp rocksdb --seeds 101-103

Here python3 must have the packages that pyproject.toml names.

The search is greedy. It starts from the policy without its [for.WORKLOAD] table,
measures each value of the first setting, keeps the best and goes on to the next
setting. Settings of NUMA balancing's scans and hint faults are tried only if the
best trial so far promoted pages (at least 1 % of fast memory): otherwise they have
no effect.

Seeds are 101 and up. Tables show the seeds from 1 up: settings that were chosen on
a seed of a table would be fitted to the very runs that the table compares. With
several seeds, a trial's throughput is the median.

Every trial is written to policies/search/POLICY.json when it has been measured,
with a hash of its inputs (kernel, disks, QEMU and so on; see docs/results.md). To
continue a search that was stopped, run it again: it measures only trials that the
file lacks, or that have other inputs today. The file keeps the results of other
workloads. Entries without seeds are of an older search, on seed 1.

Copy the best settings of a workload into the policy's [for.WORKLOAD] table
yourself, once the file says that its search has finished.

Limits

- Trials are made on machine `tiered`, at full size.
- Settings are tried one after the other, not in all combinations.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kloc.base import files, hashes
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.commands import values
from kloc.machine import launcher, profile
from kloc.machine.parts import Parts
from kloc.measure import policy, prepared, record, runner, task, workload

DIRECTORY = PROJECT / "policies" / "search"

FIRST_SEED = 101
"""Smaller seeds are those of tables."""

BALANCING = "/sys/kernel/debug/sched/numa_balancing"
SPACE: dict[str, dict[str, tuple[str, ...]]] = {
    "tpp": {
        "/proc/sys/vm/watermark_scale_factor": ("10", "100", "400", "1000", "2000", "3000"),
        f"{BALANCING}/hot_threshold_ms": ("23", "200", "2000"),
        f"{BALANCING}/scan_period_min_ms": ("6", "23", "100"),
    }
}

Values = tuple[str, ...]
"""The values of the searched settings, in the order of SPACE."""

Trial = dict[str, Any]
"""A trial in the file: settings, seed, throughput (operations a second), whether it promoted pages,
and a hash of its inputs."""

Save = Callable[[Mapping[str, Any]], None]


class Search:
    """The search for the best settings of policy `name` for the workload `what`.

    `stored` is the workload's entry of the file, empty if there is none. `save` is called with the
    new entry after each trial.
    """

    def __init__(
        self,
        name: str,
        what: workload.Workload,
        seeds: Sequence[int],
        stored: Mapping[str, Any],
        save: Save,
    ) -> None:
        """Take over the trials of `stored` that say what they are of."""
        self.name, self.what, self.seeds, self.save = name, what, seeds, save
        self.plain = replace(policy.load(name), tuned={})
        self.host = profile.load(profile.DEFAULT)
        self.best: dict[str, str] = {}
        self.trials: dict[tuple[Values, int], Trial] = {
            (tried(name, trial["settings"]), trial["seed"]): trial
            for trial in stored.get("trials", [])
            if "inputs" in trial
        }
        self.used: dict[tuple[Values, int], None] = {}

    def run(self) -> dict[str, Any]:
        """Measure what is missing. Return the workload's entry of the file."""
        parts = runner.prepare([self.what])
        promotes = True
        for setting, candidates in SPACE[self.name].items():
            if BALANCING in setting and not promotes:
                continue
            self._measure([{**self.best, setting: each} for each in candidates], parts)
            settings = [self._settings({**self.best, setting: each}) for each in candidates]
            fastest = max(settings, key=lambda each: self._throughput(tried(self.name, each)))
            self.best[setting] = fastest[setting]
            promotes = any(trial["promotes"] for trial in self._of(tried(self.name, fastest)))
        self.trials = {key: self.trials[key] for key in self.used}
        self.save(self._entry(finished=True))
        return self._entry(finished=True)

    def _settings(self, chosen: Mapping[str, str]) -> Mapping[str, str]:
        """Return what the policy writes if it is tuned with the `chosen` settings."""
        tuned = replace(self.plain, tuned={self.what.name: dict(chosen)})
        return tuned.settings(self.what.name, self.host)

    def _measure(self, candidates: Iterable[Mapping[str, str]], parts: Mapping[str, Parts]) -> None:
        """Measure the candidates that have no trial with the inputs of today."""
        tasks = {}
        for chosen in candidates:
            tuned = replace(self.plain, tuned={self.what.name: dict(chosen)})
            for seed in self.seeds:
                one = task.Task(self.what, tuned, self.host, seed, workload.FULL)
                tasks[(tried(self.name, self._settings(chosen)), seed)] = one
        self.used.update(dict.fromkeys(tasks))
        ready = dict(zip(tasks, prepared.with_disks(list(tasks.values()), parts), strict=True))
        missing = [
            tasks[key]
            for key, one in ready.items()
            if key not in self.trials or not _is_of(self.trials[key], one, parts[self.what.name])
        ]
        runner.measure(missing, [self.plain], parts, save=self._keep)

    def _keep(self, runs: Iterable[record.Run]) -> None:
        for run in runs:
            self.trials[(tried(self.name, run["settings"]), run["seed"])] = {
                "settings": dict(
                    zip(SPACE[self.name], tried(self.name, run["settings"]), strict=True)
                ),
                "seed": run["seed"],
                "throughput": run["throughput"],
                "promotes": _promotes(run),
                "inputs": _hash(run["inputs"]),
            }
        self.save(self._entry(finished=False))

    def _of(self, tried_values: Values) -> list[Trial]:
        return [self.trials[(tried_values, seed)] for seed in self.seeds]

    def _throughput(self, tried_values: Values) -> float:
        throughputs: list[float] = [trial["throughput"] for trial in self._of(tried_values)]
        return statistics.median(throughputs)

    def _entry(self, finished: bool) -> dict[str, Any]:
        return {
            "seeds": list(self.seeds),
            "finished": finished,
            "best": dict(self.best),
            "trials": list(self.trials.values()),
        }


def tried(name: str, settings: Mapping[str, str]) -> Values:
    """Return the values of the searched settings, "as it is" where the policy writes none."""
    return tuple(settings.get(path, "as it is") for path in SPACE[name])


def seeds(text: str) -> tuple[int, ...]:
    """Return the seeds in a list such as 101-103. Raises ArgumentTypeError if one is in a table."""
    chosen = values.seeds(f"{text}-{text}" if text.isdecimal() else text)
    if min(chosen) < FIRST_SEED:
        raise argparse.ArgumentTypeError(
            f"seed {min(chosen)} is one that tables show, and settings must not be fitted to it: "
            f"search on seeds from {FIRST_SEED} up"
        )
    return chosen


def _is_of(trial: Trial, today: task.Task, parts: Parts) -> bool:
    """Return whether a trial has the inputs of today, with its warm-up or, if it failed, without.

    `today` has its disk.
    """
    ways = [today, today.without_warm_up()]
    return any(
        way and _hash(launcher.inputs_of(way.job(), parts)) == trial["inputs"] for way in ways
    )


def _hash(inputs: Mapping[str, str]) -> str:
    return hashes.of_text(json.dumps(inputs, sort_keys=True))


def _promotes(run: record.Run) -> bool:
    """Return whether the run promoted at least 1 % of fast memory."""
    pages = sum(run["migrated_pages"]["promoted"].values())
    return bool(pages * 4096 * 100 > run["machine"]["fast_bytes"])


def search(name: str, workloads: Iterable[str], chosen: Sequence[int], path: Path) -> None:
    """Search for each workload, write all trials to `path`, and print the best settings."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def save_as(what: str) -> Save:
        def save(entry: Mapping[str, Any]) -> None:
            found[what] = entry
            files.write_text(path, json.dumps(found, indent=1, sort_keys=True) + "\n")

        return save

    for what in workloads:
        stored = found.get(what, {})
        entry = Search(name, workload.load(what), chosen, stored, save_as(what)).run()
        print(what, json.dumps(entry["best"], indent=1), flush=True)


def main() -> None:
    """Search for each workload named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policy", choices=SPACE, help="the policy to tune")
    parser.add_argument(
        "workloads", nargs="+", metavar="WORKLOAD", help="a workload to tune the policy for"
    )
    parser.add_argument(
        "--seeds",
        type=seeds,
        default=(FIRST_SEED,),
        metavar="N|A-B|A,B",
        help=f"the random seeds to search on, from {FIRST_SEED} up (default: {FIRST_SEED})",
    )
    args = parser.parse_args()
    DIRECTORY.mkdir(exist_ok=True)
    try:
        search(args.policy, args.workloads, args.seeds, DIRECTORY / f"{args.policy}.json")
    except KlocError as error:
        sys.exit(f"{error.message}\n{error.hint or ''}".rstrip())


if __name__ == "__main__":
    main()
