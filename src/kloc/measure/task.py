# SPDX-License-Identifier: GPL-2.0
"""Measures workloads under policies: several machines at once, results in order."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from kloc.base.errors import KlocError
from kloc.machine.job import Job, Raw
from kloc.machine.profile import Profile
from kloc.measure import policy
from kloc.measure.policy import Policy
from kloc.measure.workload import Outcome, Size, Workload


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
