# SPDX-License-Identifier: GPL-2.0
"""Searches for the settings of a policy that give a workload its highest throughput.

The search is greedy. It starts from the policy without those values of its [for.WORKLOAD] table
that are tried, measures each value of the first setting in [tune], keeps the best and goes on to
the next setting. Settings of
NUMA balancing's scans and hint faults are tried only if the best trial so far promoted pages (at
least 1 % of fast memory): otherwise they have no effect.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kloc.base import hashes
from kloc.base.errors import KlocError
from kloc.machine import launcher
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile
from kloc.measure import policy, prepared, runner
from kloc.measure.record import Run
from kloc.measure.task import Task
from kloc.measure.workload import FULL, Size, Workload

BALANCING = "/sys/kernel/debug/sched/numa_balancing"

AS_IT_IS = "as it is"
"""The value of a setting that the policy does not write."""

Values = tuple[str, ...]
"""The values of the settings in [tune], in their order."""

Trial = dict[str, Any]
"""A trial as it is kept: settings, seed, throughput (operations a second), whether it promoted
pages, and a hash of its inputs."""

Save = Callable[[Mapping[str, Any]], None]


class Search:
    """The search for the settings with which policy `name` is fastest on the workload `what`.

    `stored` is the workload's entry of the file, empty if there is none. `save` is called with the
    new entry after each trial.
    """

    def __init__(
        self,
        name: str,
        what: Workload,
        seeds: Sequence[int],
        stored: Mapping[str, Any],
        save: Save,
        host: Profile,
        size: Size = FULL,
    ) -> None:
        """Take over the trials of `stored` that say what they are of.

        Raises KlocError if the policy has no settings to tune.
        """
        self.what, self.seeds, self.save, self.host, self.size = what, seeds, save, host, size
        loaded = policy.load(name)
        self.current = loaded.for_workload.get(what.name, {})
        self.plain = replace(loaded, for_workload={})
        self.space = self.plain.to_try
        if not self.space:
            raise KlocError(
                f"policy {name} names no settings to tune",
                f"add a table [tune] to {policy.path(name)} (docs/tuning.md)",
            )
        # What is not tried stays as the policy, or the one that it has settings of, sets it.
        untried = {file: value for file, value in self.current.items() if file not in self.space}
        self.best: dict[str, str] = untried
        self.trials: dict[tuple[Values, int], Trial] = {
            (self._tried(trial["settings"]), trial["seed"]): trial
            for trial in stored.get("trials", [])
            if "inputs" in trial
        }
        self.used: dict[tuple[Values, int], None] = {}

    def run(self) -> dict[str, Any]:
        """Measure what is missing. Return the workload's entry of the file."""
        parts = runner.prepare([self.what], policies=[self.plain])
        promotes = True
        for setting, candidates in self.space.items():
            if BALANCING in setting and not promotes:
                continue
            self._measure([{**self.best, setting: each} for each in candidates], parts)
            settings = [self._settings({**self.best, setting: each}) for each in candidates]
            fastest = max(settings, key=lambda each: self._throughput(self._tried(each)))
            self.best[setting] = fastest[setting]
            promotes = any(trial["promotes"] for trial in self._of(self._tried(fastest)))
        self.trials = {key: self.trials[key] for key in self.used}
        self.save(self._entry(finished=True))
        return self._entry(finished=True)

    def untuned(self) -> float:
        """Return the throughput with the settings of the policy's file; measure what is missing."""
        self._measure([self.current], runner.prepare([self.what], policies=[self.plain]))
        return self._throughput(self._tried(self._settings(self.current)))

    def task(self, chosen: Mapping[str, str]) -> Task:
        """Return the run with the `chosen` settings and the first seed."""
        tuned = replace(self.plain, for_workload={self.what.name: dict(chosen)})
        return Task(self.what, tuned, self.host, self.seeds[0], self.size)

    def fastest(self) -> float:
        """Return the throughput with the best settings."""
        return self._throughput(self._tried(self._settings(self.best)))

    def _settings(self, chosen: Mapping[str, str]) -> Mapping[str, str]:
        """Return what the policy writes if it is tuned with the `chosen` settings."""
        tuned = replace(self.plain, for_workload={self.what.name: dict(chosen)})
        return tuned.settings(self.what.name, self.host)

    def _measure(self, candidates: Iterable[Mapping[str, str]], parts: Mapping[str, Parts]) -> None:
        """Measure the candidates that have no trial with the inputs of today."""
        tasks = {}
        for chosen in candidates:
            tuned = replace(self.plain, for_workload={self.what.name: dict(chosen)})
            for seed in self.seeds:
                one = Task(self.what, tuned, self.host, seed, self.size)
                tasks[(self._tried(self._settings(chosen)), seed)] = one
        self.used.update(dict.fromkeys(tasks))
        ready = dict(zip(tasks, prepared.with_disks(list(tasks.values()), parts), strict=True))
        missing = [
            tasks[key]
            for key, one in ready.items()
            if key not in self.trials or not _is_of(self.trials[key], one, parts[one.guest])
        ]
        runner.measure(missing, [self.plain], parts, save=self._keep)

    def _keep(self, runs: Iterable[Run]) -> None:
        for run in runs:
            self.trials[(self._tried(run["settings"]), run["seed"])] = {
                "settings": dict(zip(self.space, self._tried(run["settings"]), strict=True)),
                "seed": run["seed"],
                "throughput": run["throughput"],
                "promotes": _promotes(run),
                "inputs": _hash(run["inputs"]),
            }
        self.save(self._entry(finished=False))

    def _of(self, tried_values: Values) -> list[Trial]:
        return [self.trials[(tried_values, seed)] for seed in self.seeds]

    def _tried(self, settings: Mapping[str, str]) -> Values:
        """Return the values of the settings, AS_IT_IS where the policy writes none."""
        return tuple(settings.get(path, AS_IT_IS) for path in self.space)

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


def _is_of(trial: Trial, today: Task, parts: Parts) -> bool:
    """Return whether a trial has the inputs of today, with its warm-up or, if it failed, without.

    `today` has its disk.
    """
    ways = [today, today.without_warm_up()]
    return any(
        way and _hash(launcher.inputs_of(way.job(), parts)) == trial["inputs"] for way in ways
    )


def _hash(inputs: Mapping[str, str]) -> str:
    return hashes.of_text(json.dumps(inputs, sort_keys=True))


def _promotes(run: Run) -> bool:
    """Return whether the run promoted at least 1 % of fast memory."""
    pages = sum(run["migrated_pages"]["promoted"].values())
    return bool(pages * 4096 * 100 > run["machine"]["fast_bytes"])
