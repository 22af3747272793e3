# SPDX-License-Identifier: GPL-2.0
"""Measures workloads under policies: several machines at once, results in order."""

from __future__ import annotations

import os
import subprocess
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kloc import follow, machine, policy, result, ui
from kloc.errors import KlocError, explained
from kloc.machine import Job, Machine, Parts, Raw
from kloc.policy import Policy
from kloc.profile import HOST_RESERVE, Profile
from kloc.result import Run
from kloc.workload import SOURCES, Outcome, Size, Workload

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


@dataclass(frozen=True)
class Task:
    """One run to make: a workload under a policy on a machine, with a seed and a size."""

    workload: Workload
    policy: Policy
    profile: Profile
    seed: int
    size: Size
    frames: bool = False
    follow: bool = False
    observe: bool = False

    def job(self) -> Job:
        """Return what the machine is told to do."""
        scripts = {
            "setup": self._setup(),
            "measured": self.workload.measured(self.size, self.seed),
        }
        if self.workload.check:
            scripts["check"] = self.workload.check(self.size, self.seed)
        return Job(
            name=self.workload.name,
            profile=self.profile,
            scripts=scripts,
            settings=self.policy.settings(self.workload.name, self.profile),
            timing=self.policy.timing,
            fast_kinds=self.policy.fast_kinds,
            seed=self.seed,
            packages=self.workload.packages,
            frames=self.frames,
            follow=self.follow,
            observe=self.observe,
            instructions=self.workload.instructions * max(self.size.load, self.size.measured / 10),
        )

    def _setup(self) -> str:
        setup = self.workload.setup(self.size, self.seed)
        return setup + (self.workload.start(self.size, self.seed) if self.workload.start else "")

    def outcome(self, raw: Raw) -> Outcome:
        """Return what the workload makes of what it printed; KlocError if it cannot."""
        try:
            return self.workload.outcome(raw.frames, self.size)
        except KlocError:
            raise
        # Whatever somebody's workload does wrong is that workload's.
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            raise KlocError(
                f"{self.workload.name}: its outcome() failed: {type(error).__name__}: {error}",
                f"see {at.filename}, line {at.lineno}; outcome() is given what the scripts printed",
            ) from error

    def title(self) -> str:
        """Return what a person calls this run."""
        varied = f", {self.profile.variant}" if self.profile.variant else ""
        return f"{self.workload.name} under {self.policy.name}, seed {self.seed}{varied}"


def tasks(
    workloads: Sequence[Workload],
    policies: Sequence[Policy],
    profile: Profile,
    seeds: Sequence[int],
    size: Size,
) -> list[Task]:
    """Return the runs of a comparison: those asked for, and those that a computed one needs."""
    needed = {each.computed for each in policies if each.computed}
    real = [each for each in policies if not each.computed]
    real += [policy.load(name) for name in sorted(needed - {each.name for each in real})]
    return [
        Task(workload, each, profile, seed, size, frames=each.name in needed)
        for workload in workloads
        for seed in seeds
        for each in real
    ]


def prepare(workloads: Sequence[Workload]) -> dict[str, Parts]:
    """Return the parts of each workload's machine, by its name.

    Each has a guest of its own, so that what a workload does never depends on
    which others are measured beside it.
    """
    return {
        each.name: machine.prepare(each.packages, [SOURCES / name for name in each.programs])
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
        run = result.from_raw(task.job(), task.policy, task.outcome(raw), raw, task.size)
        results.append(run)
        for each in policies:
            if each.computed == task.policy.name and raw.pages is not None:
                results.append(
                    result.computed(run, raw.pages, each, raw.model["free_fast_at_start"])
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
    with ExitStack() as all_runs, follow.watching("starting", total, followed) as watch:
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
                        ui.say(f"{one.task.title()} failed: {error.message}")
                ui.detail(f"{one.task.title()}: {one.instructions / 1e9:.1f} G instructions")
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
    with _failing(), machine.started(task.job(), parts) as one:
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
