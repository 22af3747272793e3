# SPDX-License-Identifier: GPL-2.0
"""Tasks: the runs of a comparison, one for each workload, policy, machine, seed and size."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kloc.base.errors import KlocError, unknown
from kloc.machine.job import Job, Raw
from kloc.machine.profile import Profile
from kloc.measure import policy, workload
from kloc.measure.oracle import Placement
from kloc.measure.policy import Policy
from kloc.measure.record import Identity
from kloc.measure.workload import REGION, Outcome, Size, Workload


@dataclass(frozen=True)
class Task:
    """One run to make.

    `frames`, `follow` and `observe` are those of the machine's Job. `placement` is that of the
    oracle. `cold`: without a warm-up. `unrepeatable`: without one, because a run failed after it.
    `disk` is the image of what the workload has prepared, None if it prepares nothing.
    """

    workload: Workload
    policy: Policy
    profile: Profile
    seed: int
    size: Size
    frames: bool = False
    follow: bool = False
    observe: bool = False
    placement: Placement | None = None
    cold: bool = False
    unrepeatable: bool = False
    disk: Path | None = None

    def job(self) -> Job:
        """Return the machine's job."""
        scripts = {
            "setup": self.workload.setup(self.size, self.seed),
            "measured": self.workload.measured(self.size, self.seed),
        }
        if self.workload.start:
            scripts["start"] = self.workload.start(self.size, self.seed)
        if slices := self._slices():
            scripts["warm"] = slices
        if self.workload.check:
            scripts["check"] = self.workload.check(self.size, self.seed)
        return Job(
            name=self.workload.name,
            profile=self.profile,
            scripts=scripts,
            settings=self.policy.settings(self.workload.name, self.profile),
            timing=self.policy.timing,
            parameters=self.policy.parameters,
            fast_kinds=self.policy.fast_kinds,
            seed=self.seed,
            packages=(*self.workload.packages, *self.policy.packages),
            fast_frames=self.placement.frames if self.placement else None,
            frames=self.frames,
            follow=self.follow,
            observe=self.observe,
            instructions=self._instructions(),
            slices=self.workload.slices_max,
            disk=self.disk,
            **self.policy.watching(self.workload.name, self.profile),
        )

    @property
    def guest(self) -> str:
        """The key of this task's machine among those of `runner.prepare`."""
        return guest_key(self.workload, self.policy)

    def _instructions(self) -> float:
        """Return an estimate: a quarter of a full-size run's instructions load."""
        return self.workload.instructions * (self.size.load + 3 * self.size.seconds / REGION) / 4

    def _slices(self) -> str | None:
        if self.cold or self.unrepeatable:
            return None
        return self.workload.slices(self.size, self.seed)

    def without_warm_up(self) -> Task | None:
        """Return the run to make if this one fails after a warm-up that may be the reason.

        None if it had no warm-up, or one that the workload's author has foreseen.
        """
        if self.cold or self.unrepeatable or not self.workload.warm_up_is_a_guess:
            return None
        return replace(self, unrepeatable=True)

    def outcome(self, raw: Raw) -> Outcome:
        """Return the workload's outcome, from the output of its scripts.

        Raises KlocError if the workload did not do its work, or its outcome() has a mistake.
        """
        try:
            return self.workload.outcome(raw.frames, self.size)
        except KlocError:
            raise
        # outcome() is code of the workload's author, and may raise anything.
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            raise KlocError(
                f"{self.workload.name}: its outcome() failed: {type(error).__name__}: {error}",
                f"see {at.filename}, line {at.lineno}; outcome() gets the output of the scripts",
            ) from error

    def identity(self) -> Identity:
        """Return what tells the run of this task from others, as `record.identity` of the run."""
        return self.workload.name, self.policy.name, str(self.seed), self.profile.variant

    def title(self) -> str:
        """Return the name of this run in messages."""
        variant = f", {self.profile.variant}" if self.profile.variant else ""
        return f"{self.workload.name} under {self.policy.name}, seed {self.seed}{variant}"

    def listing(self, policy: str | None = None) -> str:
        """Return the line about this run in the list of --dry-run, or about one under `policy`."""
        cold = ", cold" if self.cold else ""
        name = policy or self.policy.name
        run = f"{self.workload.name} under {name}, seed {self.seed}"
        return f"{run}, machine {self.profile.title()}{cold}"


def tasks(
    workloads: Sequence[Workload],
    policies: Sequence[Policy],
    profile: Profile,
    seeds: Sequence[int],
    size: Size,
    cold: bool = False,
) -> list[Task]:
    """Return the runs of a comparison.

    A policy with `frames_from` is left out: its run follows from that policy's (see `follow_up`).
    Raises KlocError if a policy has a table for a workload that does not exist.
    """
    for one in policies:
        check_workload_names(one)
    needed = {one.frames_from for one in policies if one.frames_from}
    measured = [one for one in policies if not one.frames_from]
    measured += [policy.load(name) for name in sorted(needed - {one.name for one in measured})]
    return [
        Task(what, one, profile, seed, size, frames=one.name in needed, cold=cold)
        for what in workloads
        for seed in seeds
        for one in measured
    ]


def guest_key(workload: Workload, policy: Policy) -> str:
    """Return the key of a machine among those of `runner.prepare`.

    It is the workload's name, unless the policy needs packages that the workload does not have: its
    machine is then one of its own, and those of all other policies do not change.
    """
    more = sorted(set(policy.packages) - set(workload.packages))
    return f"{workload.name} with {', '.join(more)}" if more else workload.name


def listings(todo: Sequence[Task], policies: Sequence[Policy]) -> tuple[list[str], list[Task]]:
    """Return the lines of --dry-run about all runs, and for each a task that takes as long.

    Runs of `policies` that follow from a task are among them.
    """
    lines, runs = [], []
    for task in todo:
        lines.append(task.listing())
        after = [one.name for one in policies if one.frames_from == task.policy.name]
        lines += [f"{task.listing(name)}, after {task.policy.name}" for name in after]
        runs += [task] * (1 + len(after))
    return lines, runs


def follow_up(task: Task, used: Policy, placement: Placement) -> Task:
    """Return the run under the policy `used` that follows from `task`, with its placement."""
    return replace(task, policy=used, frames=False, placement=placement)


def check_workload_names(used: Policy) -> None:
    """Raise KlocError if a table of a policy for one workload names no workload.

    A policy has tables of the policies that it is `like` and has settings of: their files are
    checked first.
    """
    others = [*([used.like] if used.like else []), *used.settings_of.values()]
    for other in dict.fromkeys(others):
        check_workload_names(policy.load(other))
    tables = {f"for.{name}": name for name in used.for_workload}
    tables |= {f"scheme.for.{name}": name for name in (used.scheme.tuned if used.scheme else ())}
    for table, name in tables.items():
        if name not in workload.names():
            error = unknown("workload", name, workload.names())
            raise KlocError(f"{policy.path(used.name)}: [{table}]: {error.message}", error.hint)
