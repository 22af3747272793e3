# SPDX-License-Identifier: GPL-2.0
"""Measures a comparison into a result file, which is written after every run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.base.words import plural
from kloc.commands import stored_results
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile
from kloc.measure import record, resume
from kloc.measure.policy import Policy
from kloc.measure.runner import measure
from kloc.measure.task import Task
from kloc.results import document
from kloc.results.growing_file import GrowingFile


@dataclass
class Measurement:
    """The tasks of a comparison, and the document that their results become.

    `path` is the file to write after every run, None for none. `stored` is the document to
    continue, and `source` its file. Every run gets the `notes`. `more` are further keys of the
    document.
    """

    todo: list[Task]
    policies: Sequence[Policy]
    parts: Mapping[str, Parts]
    machine: Profile
    path: Path | None = None
    stored: Mapping[str, Any] | None = None
    source: Path | None = None
    notes: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the stored results would be made from the same today."""
        empty = document.assemble(self.parts.values(), self.machine.as_dict(), [])
        if self.stored and self.source:
            stored_results.check_inputs(
                self.source, self.stored, empty, self.todo, self.policies, self.parts
            )
            empty = document.with_guests_of(empty, self.stored)
        del empty["runs"]
        self._head = {**empty, **self.more}
        self._file = GrowingFile(self.path) if self.path else None

    def content(self, runs: Iterable[record.Run]) -> dict[str, Any]:
        """Return the document of these runs."""
        return {**self._head, "runs": [_noted(run, self.notes) for run in runs]}

    def run(
        self, followed: bool = False, saved: Callable[[], None] = lambda: None
    ) -> list[record.Run]:
        """Measure what `stored` lacks, and return all results; `saved` is called after each run.

        `followed`: show the machines while they run. Raises Incomplete if runs failed, and
        Interrupted on Ctrl-C, as `runner.measure` does.
        """
        kept = self.kept()
        if kept:
            missing = resume.missing(
                self.todo, self.policies, {record.identity(run) for run in kept}
            )
            terminal.say(
                f"{self.source} has {plural(len(kept), 'run')}, {len(missing)} to be measured"
            )
        return self.extend(self.todo, kept, followed, saved)

    def kept(self) -> list[record.Run]:
        """Return the results of `stored`."""
        return list(self.stored["runs"]) if self.stored else []

    def extend(
        self,
        todo: Sequence[Task],
        kept: Sequence[record.Run],
        followed: bool = False,
        saved: Callable[[], None] = lambda: None,
    ) -> list[record.Run]:
        """Measure those of the tasks `todo` that `kept` lacks, and return all results, as `run`."""

        def save(runs: list[record.Run]) -> None:
            try:
                if self._file:
                    self._file.write(self.content(runs))
            except KlocError as error:
                # The results are kept in memory, and written again after the next run.
                terminal.say(f"{error.message}; the measurement continues")
            saved()

        return measure(todo, self.policies, self.parts, followed, kept, save)


def _noted(run: record.Run, notes: Sequence[str]) -> record.Run:
    """Return the run with `notes`, those that it already has only once."""
    new = [note for note in notes if note not in run["notes"]]
    return {**run, "notes": [*run["notes"], *new]}
