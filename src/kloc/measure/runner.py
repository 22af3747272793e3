# SPDX-License-Identifier: GPL-2.0
"""Measures workloads under policies: several machines at once, results in order."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import KlocError, explained
from kloc.machine import launcher
from kloc.machine.job import Raw
from kloc.machine.launcher import Machine
from kloc.machine.parts import Parts, prepare_parts
from kloc.machine.profile import HOST_RESERVE
from kloc.measure import live, record
from kloc.measure.policy import Policy
from kloc.measure.record import Run
from kloc.measure.task import Task
from kloc.measure.workload import SOURCES, Workload

POLL_SECONDS = 0.2


class Incomplete(KlocError):
    """Some runs failed; `runs` are the results of the others."""

    def __init__(self, failures: Mapping[str, KlocError], runs: list[Run]) -> None:
        """Name the runs that failed; what each said was printed when it did."""
        names = "; ".join(failures)
        first = next(iter(failures.values()))
        super().__init__(f"no figures of {names}: {first.message}", first.hint)
        self.runs = runs


class Interrupted(KeyboardInterrupt):
    """Somebody did not want to wait; `runs` are the results of what was done by then."""

    def __init__(self, runs: list[Run]) -> None:
        """Keep the results."""
        super().__init__()
        self.runs = runs


def prepare(workloads: Sequence[Workload]) -> dict[str, Parts]:
    """Return the parts of each workload's machine, by its name.

    Each has a guest of its own, so that what a workload does never depends on
    which others are measured beside it.
    """
    return {
        each.name: prepare_parts(each.packages, [SOURCES / name for name in each.programs])
        for each in workloads
    }


def measure(
    todo: Sequence[Task],
    policies: Sequence[Policy],
    parts: Mapping[str, Parts],
    followed: bool = False,
) -> list[Run]:
    """Make the runs and return the results of `policies`.

    They are in the order of the machine's variant, workload, policy, seed.

    `parts` are those of each workload's machine, by its name (see `prepare`). `followed`: show
    what the machines have come to while they run.

    A run that fails does not stop the others: Incomplete is raised at the end, which has their
    results. KlocError if nothing else was to be run. Interrupted, with the results of those that
    were done, if somebody stops it.
    """
    results: list[Run] = []

    def finished(task: Task, raw: Raw) -> None:
        run = record.from_raw(task.job(), task.policy, task.outcome(raw), raw, task.size)
        results.append(run)
        for each in policies:
            if each.computed == task.policy.name and raw.pages is not None:
                results.append(
                    record.computed(run, raw.pages, each, raw.model["free_fast_at_start"])
                )

    try:
        failures = _run_all([replace(task, follow=followed) for task in todo], parts, finished)
    except KeyboardInterrupt:
        raise Interrupted(_in_order(results, todo, policies)) from None
    runs = _in_order(results, todo, policies)
    if failures and len(todo) == 1:
        raise next(iter(failures.values()))
    if failures:
        raise Incomplete(failures, runs)
    return runs


def _in_order(
    results: Sequence[Run], todo: Sequence[Task], policies: Sequence[Policy]
) -> list[Run]:
    """Return the results of `policies`, by the machine's variant, workload, policy, seed."""
    order = {each.name: place for place, each in enumerate(policies)}
    workloads = list(dict.fromkeys(task.workload.name for task in todo))
    variants = list(dict.fromkeys(task.profile.variant for task in todo))
    return sorted(
        (run for run in results if run["policy"] in order),
        key=lambda run: (
            variants.index(run["machine"]["variant"]),
            workloads.index(run["workload"]),
            order[run["policy"]],
            run["seed"],
        ),
    )


def at_once(todo: Sequence[Task]) -> int:
    """Return how many machines this host runs side by side: one a core, as far as memory goes."""
    largest = max(
        (task.profile.fast.capacity + task.profile.slow.capacity for task in todo), default=0
    )
    places = _available_memory() // (largest + HOST_RESERVE)
    return max(1, min(len(os.sched_getaffinity(0)), places))


def _available_memory() -> int:
    """Return how many bytes a program can have, the host's page cache given up."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def _run_all(
    todo: Sequence[Task], parts: Mapping[str, Parts], finished: Callable[[Task, Raw], None]
) -> dict[str, KlocError]:
    """Make all runs; return the failures by the run's title."""
    failures: dict[str, KlocError] = {}
    waiting = list(todo)
    running: list[_Running] = []
    done = 0.0
    total = sum(task.job().instructions for task in todo)
    places = at_once(todo)
    followed = any(task.follow for task in todo)
    with ExitStack() as all_runs, live.watching("starting", total, followed) as watch:
        while waiting or running:
            while waiting and len(running) < places:
                task = waiting.pop(0)
                running.append(_Running(task, parts[task.workload.name], finished))
                all_runs.callback(running[-1].steps.close)
            for one in list(running):
                try:
                    if one.goes_on():
                        continue
                except KlocError as error:
                    failures[one.task.title()] = error
                    if len(todo) > 1:
                        terminal.say(f"{one.task.title()} failed: {error.message}")
                terminal.detail(f"{one.task.title()}: {one.instructions / 1e9:.1f} G instructions")
                running.remove(one)
                done += one.task.job().instructions
            under_way = sum(min(one.instructions, one.task.job().instructions) for one in running)
            watch.bar.description = _describe(waiting, running)
            watch.bar.update(done + under_way)
            watch.show({one.task.title(): one.machine for one in running if one.machine})
            time.sleep(POLL_SECONDS)
    return failures


class _Running:
    """A run that is under way: its machine, None until it has started, and how far that is."""

    def __init__(self, task: Task, parts: Parts, finished: Callable[[Task, Raw], None]) -> None:
        self.task = task
        self.machine: Machine | None = None
        self.instructions = 0
        self.steps = _steps(task, parts, finished)

    def goes_on(self) -> bool:
        """Look at it; return whether it is still under way. KlocError if it failed."""
        one = next(self.steps, None)
        if one is None:
            return False
        self.machine, self.instructions = one, one.instructions
        return True


def _steps(
    task: Task, parts: Parts, finished: Callable[[Task, Raw], None]
) -> Generator[Machine, None, None]:
    """Run a task; yield its machine while it runs.

    What fails, fails in here: the machine's folder is kept then, which an error may name.
    """
    with _failing(), launcher.started(task.job(), parts) as one:
        while (raw := one.step()) is None:
            yield one
        finished(task, raw)


@contextmanager
def _failing() -> Iterator[None]:
    """Make a failure of this run of what the host refuses, such as when its disk is full."""
    try:
        yield
    except (OSError, subprocess.CalledProcessError) as error:
        raise explained(error) from error


def _describe(waiting: Sequence[Task], running: Sequence[_Running]) -> str:
    now = "; ".join(f"{one.task.title()} ({one.machine.stage})" for one in running if one.machine)
    return f"{now}; {len(waiting)} more" if waiting else now or "starting"
