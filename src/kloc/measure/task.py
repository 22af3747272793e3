# SPDX-License-Identifier: GPL-2.0
"""Tasks: the runs of a comparison, one for each workload, policy, machine, seed and size."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from kloc.base.errors import KlocError, unknown
from kloc.machine.job import Job, Raw
from kloc.machine.profile import Profile
from kloc.measure import policy, workload
from kloc.measure.policy import Policy
from kloc.measure.workload import Outcome, Size, Workload


@dataclass(frozen=True)
class Task:
    """One run to make.

    `frames`, `follow` and `observe` are those of the machine's Job.
    """

    workload: Workload
    policy: Policy
    profile: Profile
    seed: int
    size: Size
    frames: bool = False
    follow: bool = False
    observe: bool = False

    def job(self) -> Job:
        """Return the machine's job."""
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

    def title(self) -> str:
        """Return the name of this run in messages."""
        variant = f", {self.profile.variant}" if self.profile.variant else ""
        return f"{self.workload.name} under {self.policy.name}, seed {self.seed}{variant}"


def tasks(
    workloads: Sequence[Workload],
    policies: Sequence[Policy],
    profile: Profile,
    seeds: Sequence[int],
    size: Size,
) -> list[Task]:
    """Return the runs of a comparison.

    A computed policy has no runs of its own; the policy that it is computed from is run for it.
    Raises KlocError if a policy has a table for a workload that does not exist.
    """
    for one in policies:
        check_workload_names(one)
    needed = {one.computed for one in policies if one.computed}
    measured = [one for one in policies if not one.computed]
    measured += [policy.load(name) for name in sorted(needed - {one.name for one in measured})]
    return [
        Task(what, one, profile, seed, size, frames=one.name in needed)
        for what in workloads
        for seed in seeds
        for one in measured
    ]


def check_workload_names(used: Policy) -> None:
    """Raise KlocError if a [for.WORKLOAD] table of a policy names no workload.

    A policy has the tables of the policy that it is `like`: that one's file is checked first.
    """
    if used.like:
        check_workload_names(policy.load(used.like))
    for name in used.tuned:
        if name not in workload.names():
            error = unknown("workload", name, workload.names())
            raise KlocError(f"{policy.path(used.name)}: [for.{name}]: {error.message}", error.hint)
