# SPDX-License-Identifier: GPL-2.0
"""Measures a workload in the two-tier machine under one value of a scheme's threshold."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kloc.base import hashes
from kloc.base.errors import KlocError
from kloc.commands import options
from kloc.commands.tune_kept import Kept
from kloc.machine import launcher, profile
from kloc.machine.profile import Profile
from kloc.measure import policy, prepared, runner, scheme_use, workload
from kloc.measure.policy import Policy
from kloc.measure.scheme_use import SchemeUse
from kloc.measure.task import Task
from kloc.measure.workload import Size, Workload
from kloc.schemes.scheme import Scheme
from kloc.schemes.sysfs import Attributes
from kloc.tune.score import Measurement

NONE = "baseline"
"""The policy without a scheme."""


@dataclass(frozen=True)
class Plan:
    """The runs of a tuning. A value is that of the full-size machine, as in the scheme."""

    workload: Workload
    seed: int
    size: Size
    host: Profile
    none: Policy
    scheme: Policy
    kept: Kept

    @classmethod
    def of(
        cls, args: argparse.Namespace, schemes: Sequence[Scheme], attributes: Attributes
    ) -> Plan:
        """Return what the options ask for. Raises KlocError for what cannot be run."""
        plan = cls(
            workload.load(args.workload),
            args.seed,
            options.size(args),
            profile.load(args.machine),
            policy.load(NONE),
            with_scheme(args.scheme, schemes, attributes),
            Kept(args.resume),
        )
        # A value that cannot be applied is an error now, not after an hour.
        plan.scheme.watching(plan.workload.name, plan.host)
        return plan

    def task(self, value: float | None) -> Task:
        """Return the run under a value of the threshold, None for none."""
        used = self.none
        if value is not None and self.scheme.scheme is not None:
            used = replace(self.scheme, scheme=self.scheme.scheme.at(value))
        return Task(self.workload, used, self.host, self.seed, self.size)


class InMachine:
    """Measures the runs of a plan in the machine."""

    def __init__(self, plan: Plan) -> None:
        """Build what is missing of the machine."""
        self._plan = plan
        self._parts = runner.prepare([plan.workload])
        self.unit: float | None = None
        """How long a run takes, in seconds of the host; None before the first one."""

    def measure(self, value: float | None) -> Measurement:
        """Return the duration of the measured region, and the mean memory of processes in it."""
        task = self._plan.task(value)
        inputs = self._inputs(task)
        if (kept := self._plan.kept.find(inputs)) is not None:
            return kept
        begin = time.monotonic()
        (run,) = runner.measure([task], [task.policy], self._parts)
        self.unit = time.monotonic() - begin
        measured = Measurement(run["seconds"], run["memory"]["mean"])
        self._plan.kept.add(inputs, measured)
        return measured

    def _inputs(self, task: Task) -> str:
        """Return a hash of what the task's run is made from."""
        (ready,) = prepared.with_disks([task], self._parts)
        inputs = launcher.inputs_of(ready.job(), self._parts[task.guest])
        return hashes.of_text(json.dumps(inputs, sort_keys=True))


def with_scheme(name: str, schemes: Sequence[Scheme], attributes: Attributes) -> Policy:
    """Return the policy that runs the scheme `name`: the one of this name, or one like NONE.

    The policy may set more that the scheme needs, as ethp does. Raises KlocError if the schemes
    have no effect on processes.
    """
    own = policy.load(name) if name in policy.names() else None
    if own is not None and own.scheme is not None and own.scheme.name == name:
        return replace(own, scheme=replace(own.scheme, attributes=attributes))
    use = SchemeUse(scheme_use.PROCESSES, name, tuple(schemes), attributes)
    try:
        scheme_use.check(use)
    except KlocError as error:
        raise KlocError(
            f"{name}: {error.message}", "kloc tune runs schemes on a workload's processes"
        ) from error
    return replace(policy.load(NONE), name=name, summary=name, scheme=use, expect=())
