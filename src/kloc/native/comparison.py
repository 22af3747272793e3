# SPDX-License-Identifier: GPL-2.0
"""All runs of a native comparison, round by round."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.measure.workload import SLICES
from kloc.native import counters, order, programs, settings, trial
from kloc.native.signals import heard, held
from kloc.native.subject import Subject
from kloc.native.trial import Run, Session
from kloc.server.control import State

FOLDER = "kloc-native"
"""The folder in the scratch directory; what a kill has left in it is removed."""


class Stopped(KlocError):
    """A run failed; `runs` are the results of those before it."""

    def __init__(self, title: str, error: KlocError, runs: list[Run]) -> None:
        super().__init__(f"{title}: {error.message}", error.hint)
        self.runs = runs


class Interrupted(KeyboardInterrupt):
    """The user interrupted the comparison; `runs` are the results of finished runs."""

    def __init__(self, runs: list[Run]) -> None:
        super().__init__()
        self.runs = runs


@dataclass(frozen=True)
class Comparison:
    """What is compared: each of the `policies` once in each round, on each of the `subjects`.

    `seed` draws their order. `scratch` is where files are written.
    """

    subjects: Sequence[Subject]
    policies: Sequence[str]
    rounds: int
    seed: int
    scratch: Path
    settle_seconds: float

    def runs(self) -> list[tuple[Subject, str, int, int]]:
        """Return the runs in their order: what is run, the policy, the round, the place in it."""
        return [
            (subject, policy, number, place)
            for number, policies in enumerate(
                order.rounds(self.policies, self.rounds, self.seed), 1
            )
            for subject in self.subjects
            for place, policy in enumerate(policies, 1)
        ]


def seconds_at_least(subject: Subject) -> float:
    """Return how long a run takes at least, as far as that is known."""
    size = subject.size
    if size is None:
        return counters.QUIET_SECONDS
    slices = subject.slices / SLICES if subject.workload and subject.workload.warm_up else 0
    return counters.QUIET_SECONDS + size.seconds * (1 + slices)


def measure(comparison: Comparison, before: State) -> list[Run]:
    """Measure all runs and return their records.

    Raises Stopped if a run fails and Interrupted on Ctrl-C, both with the settings of `before`.
    """
    done: list[Run] = []
    folder = comparison.scratch / FOLDER
    try:
        with held(), settings.alone():
            _empty(folder)
            try:
                programs_ = _compiled(comparison, folder)
                session = Session(folder / "run", before, comparison.settle_seconds, programs_)
                _measure(comparison, session, done)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        # Also one that was held until the end.
        raise Interrupted(done) from None
    return done


def _measure(comparison: Comparison, session: Session, done: list[Run]) -> None:
    """Measure all runs, and add their records to `done`."""
    todo = comparison.runs()
    began = time.monotonic()
    for subject, policy, number, place in todo:
        title = f"round {number} of {comparison.rounds}: {subject.name} under {policy}"
        try:
            run = trial.run(session, subject, policy, number, place)
        except KlocError as error:
            raise Stopped(title, error, done) from error
        done.append(run)
        left = (time.monotonic() - began) / len(done) * (len(todo) - len(done))
        rest = f", about {left / 60:.0f} min left" if left > 90 else ""
        terminal.say(f"{title}: {run['seconds']:.2f} s{rest}")


def _compiled(comparison: Comparison, folder: Path) -> dict[str, list[Path]]:
    """Compile the C programs of all workloads; return them by the workload's name."""
    found: dict[str, list[Path]] = {}
    for subject in comparison.subjects:
        if subject.workload is None:
            continue
        target = folder / "programs" / subject.name
        target.mkdir(parents=True)
        with heard():
            programs.compile_all(subject.workload, target)
        found[subject.name] = sorted(target.iterdir())
    return found


def _empty(folder: Path) -> None:
    """Make an empty folder. Raises KlocError if that is impossible."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o755, parents=True)
    except OSError as error:
        raise KlocError(
            f"{folder} cannot be written: {error.strerror}", "choose another --scratch"
        ) from error
