# SPDX-License-Identifier: GPL-2.0
"""Runs tasks on machines, several at once, and returns their results in order."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import KlocError, explained
from kloc.base.words import plural
from kloc.machine import launcher
from kloc.machine.job import Raw
from kloc.machine.launcher import Machine
from kloc.machine.parts import Guest, Parts, prepare_machines
from kloc.machine.profile import HOST_RESERVE
from kloc.measure import daemon_use, host_speed, live, oracle, prepared, record, resume
from kloc.measure.policy import Policy
from kloc.measure.record import Run
from kloc.measure.task import Task, follow_up, guest_key
from kloc.measure.workload import SOURCES, Workload

POLL_SECONDS = 0.2
"""How often the running machines are checked."""


BEFORE_WARM_UP = ("boot", "setup")
"""The stages of a machine in which a warm-up cannot have changed anything."""


class Incomplete(KlocError):
    """Some runs failed; `runs` are the results of the others."""

    def __init__(self, failures: Mapping[str, KlocError], runs: list[Run]) -> None:
        """Name the failed runs, by title. The first error is the message's reason."""
        first = next(iter(failures.values()))
        super().__init__(
            f"{plural(len(failures), 'run')} failed ({'; '.join(failures)}): {first.message}",
            first.hint,
        )
        self.runs = runs


class Interrupted(KeyboardInterrupt):
    """The user interrupted the measurement; `runs` are the results of finished runs."""

    def __init__(self, runs: list[Run]) -> None:
        """Keep the results."""
        super().__init__()
        self.runs = runs


def prepare(
    workloads: Sequence[Workload],
    foreign: str | None = None,
    meanwhile: Callable[[], None] = lambda: None,
    policies: Sequence[Policy] = (),
) -> dict[str, Parts]:
    """Return the parts of each workload's machine, by the workload's name.

    Each workload has a guest of its own, so that its result does not depend on which other
    workloads are measured. Those of `policies` that need packages have one, too, for each workload:
    its key is `guest_key`. `foreign` and `meanwhile` are those of `prepare_machines`.
    """
    guests: dict[str, Guest] = {}
    for one in workloads:
        sources = tuple(SOURCES / name for name in one.programs)
        guests[one.name] = Guest(one.packages, sources)
        for policy in policies:
            packages = (*one.packages, *policy.packages)
            guests.setdefault(guest_key(one, policy), Guest(packages, sources))
    made = prepare_machines(list(guests.values()), foreign, meanwhile)
    return dict(zip(guests, made, strict=True))


def measure(
    todo: Sequence[Task],
    policies: Sequence[Policy],
    parts: Mapping[str, Parts],
    followed: bool = False,
    kept: Sequence[Run] = (),
    save: Callable[[list[Run]], None] = lambda runs: None,
) -> list[Run]:
    """Run the tasks, and those that follow from them; return the results of `policies`.

    Results are in the order of machine variant, workload, policy and seed. `parts` are those of
    `prepare`. `followed`: show the machines while they run. `kept` are results of an earlier
    measurement: they are not measured again, and are returned with the new ones. `save` is called
    with all results so far after each run.

    A failed run does not stop the others. Raises its KlocError if it was the only task, otherwise
    Incomplete with the results of the other runs. Raises Interrupted, with the results of finished
    runs, on Ctrl-C.
    """
    results = list(kept)
    known = {record.identity(run): run for run in kept}
    todo_now = resume.missing(todo, policies, known)

    def finished(task: Task, raw: Raw) -> list[Task]:
        run = record.from_raw(task.job(), task.policy, task.outcome(raw), raw, task.size, task.cold)
        run["spread"] = task.workload.spread
        daemon_use.add_versions(run, task.policy, parts[task.guest])
        if task.placement:
            run["oracle"] = task.placement.counts()
        if task.identity() in known:
            resume.check_repeated(task, known[task.identity()], run)
        else:
            results.append(run)
            # Empty if this is the run of all-slow that only the oracle needs.
            if finished_runs := _in_order(results, todo, policies, kept):
                save(finished_runs)
        if raw.pages is None:
            return []
        frames, free_fast = raw.pages, raw.model["free_fast_at_start"]
        if not record.described(raw.model):
            frames, free_fast = oracle.with_free(frames, raw.frames["free"])
        placement = oracle.place(frames, free_fast)
        following = [
            follow_up(task, used, placement)
            for used in policies
            if used.frames_from == task.policy.name
        ]
        return [one for one in following if one.identity() not in known]

    ready = prepared.with_disks([replace(task, follow=followed) for task in todo_now], parts)
    try:
        failures = _run_all(ready, parts, finished) if ready else {}
    except KeyboardInterrupt:
        raise Interrupted(_in_order(results, todo, policies, kept)) from None
    runs = _in_order(results, todo, policies, kept)
    if failures and len(todo) == 1 and not kept:
        raise next(iter(failures.values()))
    if failures:
        raise Incomplete(failures, runs)
    return runs


def _run_all(
    todo: Sequence[Task], parts: Mapping[str, Parts], finished: Callable[[Task, Raw], list[Task]]
) -> dict[str, KlocError]:
    """Run the tasks, as many at once as the host can; return the errors by the run's title.

    `finished` is called with the raw output of each run. It returns the tasks that follow from it,
    and may raise KlocError.
    """
    failures: dict[str, KlocError] = {}
    waiting = list(todo)
    running: list[_Running] = []
    done = 0.0
    total = sum(task.job().instructions for task in todo)
    limit = at_once(todo)
    followed = any(task.follow for task in todo)
    began = time.monotonic()
    with ExitStack() as all_runs, live.watching("starting", total, followed) as watch:
        while waiting or running:
            while waiting and len(running) < limit:
                task = waiting.pop(0)
                running.append(_Running(task, parts[task.guest], finished))
                all_runs.callback(running[-1].steps.close)
            for run in list(running):
                try:
                    if run.goes_on():
                        continue
                except KlocError as error:
                    again = run.without_warm_up()
                    if again and not isinstance(error, resume.NotRepeated):
                        reason = error.message.partition("\n")[0]
                        terminal.say(f"{reason}; measuring {again.title()} without a warm-up")
                        waiting.insert(0, again)
                    else:
                        failures[run.task.title()] = error
                        if len(todo) > 1:
                            terminal.say(f"{run.task.title()} failed: {error.message}")
                terminal.detail(f"{run.task.title()}: {run.instructions / 1e9:.1f} G instructions")
                running.remove(run)
                # Others may need what follows from it, and it is the longest way to the end.
                waiting[:0] = run.followed_by
                done += run.task.job().instructions
            # A run's expected instructions are an estimate, which it may exceed.
            current = sum(min(run.instructions, run.task.job().instructions) for run in running)
            watch.bar.description = _describe(waiting, running)
            watch.bar.update(done + current)
            watch.show({run.task.title(): run.machine for run in running if run.machine})
            time.sleep(POLL_SECONDS)
    if not failures:
        host_speed.note(done, time.monotonic() - began, min(limit, len(todo)))
    return failures


class _Running:
    """A run in progress: its machine (None before it has started) and executed instructions."""

    def __init__(
        self, task: Task, parts: Parts, finished: Callable[[Task, Raw], list[Task]]
    ) -> None:
        self.task = task
        self.followed_by: list[Task] = []
        self.machine: Machine | None = None
        self.instructions = 0
        self.steps = _steps(task, parts, lambda raw: self.followed_by.extend(finished(task, raw)))

    def goes_on(self) -> bool:
        """Check the machine; return whether it still runs. Raises KlocError if it failed."""
        machine = next(self.steps, None)
        if machine is None:
            return False
        self.machine, self.instructions = machine, machine.instructions
        return True

    def without_warm_up(self) -> Task | None:
        """Return the run to make after this one has failed, None if it would fail as well."""
        if self.machine is None or self.machine.stage in BEFORE_WARM_UP:
            return None
        return self.task.without_warm_up()


def _steps(
    task: Task, parts: Parts, finished: Callable[[Raw], None]
) -> Generator[Machine, None, None]:
    """Run a task; yield its machine at each check until it ends.

    `finished` is called in here, because the machine's directory, which an error may name, is kept
    only if the error is raised in here.
    """
    with _host_errors(), launcher.started(task.job(), parts) as machine:
        while (raw := machine.step()) is None:
            yield machine
        finished(raw)


@contextmanager
def _host_errors() -> Iterator[None]:
    """Turn errors of the host, such as a full disk, into KlocErrors, which fail this run only."""
    try:
        yield
    except (OSError, subprocess.CalledProcessError) as error:
        raise explained(error) from error


def _describe(waiting: Sequence[Task], running: Sequence[_Running]) -> str:
    """Return the titles and stages of running machines, and the number of waiting tasks."""
    now = "; ".join(f"{run.task.title()} ({run.machine.stage})" for run in running if run.machine)
    return f"{now}; {len(waiting)} more" if waiting else now or "starting"


def at_once(todo: Sequence[Task]) -> int:
    """Return how many machines this host runs at once: one per core, if there is enough memory."""
    largest = max(
        (task.profile.fast.capacity + task.profile.slow.capacity for task in todo), default=0
    )
    fitting = available_memory() // (largest + HOST_RESERVE)
    return max(1, min(len(os.sched_getaffinity(0)), fitting))


def available_memory() -> int:
    """Return the bytes that programs can get on this host, reclaimable page cache included."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def _in_order(
    results: Sequence[Run], todo: Sequence[Task], policies: Sequence[Policy], kept: Sequence[Run]
) -> list[Run]:
    """Return the results of `policies` by machine variant, workload, policy and seed.

    What only `kept` has comes after what was asked for.
    """
    ranks = [
        _ranks([task.profile.variant for task in todo], [_variant(run) for run in kept]),
        _ranks([task.workload.name for task in todo], [run["workload"] for run in kept]),
        _ranks([policy.name for policy in policies], [run["policy"] for run in kept]),
    ]

    def place(run: Run) -> tuple[int, ...]:
        names = (_variant(run), run["workload"], run["policy"])
        return (*(rank[name] for rank, name in zip(ranks, names, strict=True)), run["seed"])

    return sorted((run for run in results if run["policy"] in ranks[-1]), key=place)


def _ranks(asked_for: Iterable[str], kept: Iterable[str]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(dict.fromkeys([*asked_for, *kept]))}


def _variant(run: Run) -> str:
    return run["machine"].get("variant") or ""
