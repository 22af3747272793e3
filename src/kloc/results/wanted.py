# SPDX-License-Identifier: GPL-2.0
"""The tables of results in README.md and docs: what each is of, and in which document it is.

docs/tables.toml lists them; docs/guide.md ("Tables in the documents") describes its keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from kloc.base.errors import KlocError, UsageError, unknown
from kloc.machine import profile, toml_file
from kloc.measure import policy, record, workload
from kloc.measure.record import Identity, Run
from kloc.measure.workload import FULL, LENGTHS, Size
from kloc.results import ahead

LIST = Path("docs/tables.toml")
"""The list of tables, in the project."""

HINT = 'docs/guide.md ("Tables in the documents") has an example'


class Form(StrEnum):
    """How a table looks."""

    TERMINAL = "terminal"
    """What kloc compare prints."""
    WORKLOADS = "workloads"
    """A row for each workload, a column for each policy, and ratios."""
    RATIOS = "ratios"
    """A row for each workload, with its ratio to the baseline for each seed."""
    SPREAD = "spread"
    """A row for each workload, with the spread of the ratio over seeds."""
    STALLS = "stalls"
    """A row for each workload and policy, with what cores waited for in slow memory."""


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table. Its fields are the keys of its entry in the list.

    `workloads` are all if none are named. `seeds` is their number, from 1 on, or the seeds.
    `length` is "quick", "long", or "" for the full size. `against` is the baseline of ratios, and
    `compared` are the policies whose ratios are shown. `ranges` adds the lowest and the highest
    throughput of several seeds. `picture` is the file of the picture above the table, in the
    project, "" for none.
    """

    name: str
    document: str
    form: str
    workloads: tuple[str, ...] = ()
    policies: tuple[str, ...] = policy.COMPARED
    seeds: int | tuple[int, ...] = 1
    machine: str = profile.DEFAULT
    length: str = ""
    cold: bool = False
    against: str | None = None
    compared: tuple[str, ...] = (policy.DEFAULT,)
    ranges: bool = False
    picture: str = ""

    @property
    def workload_names(self) -> tuple[str, ...]:
        """The workloads of the table."""
        return self.workloads or tuple(workload.names())

    @property
    def seed_numbers(self) -> tuple[int, ...]:
        """The random seeds of the table."""
        return self.seeds if isinstance(self.seeds, tuple) else tuple(range(1, self.seeds + 1))

    @property
    def size(self) -> Size:
        """The size of the workloads."""
        return LENGTHS[self.length] if self.length else FULL

    @property
    def series(self) -> str:
        """The name of the results that can be in one file with those of this table."""
        parts = (Path(self.machine).stem, self.length, "cold" if self.cold else "")
        return "-".join(filter(None, parts))

    def identities(self) -> list[Identity]:
        """Return the identities of the runs that the table shows, in its order."""
        return [
            (what, under, str(seed), "")
            for what in self.workload_names
            for under in self.policies
            for seed in self.seed_numbers
        ]

    def missing(self, runs: Iterable[Run]) -> list[Identity]:
        """Return the identities of the runs that `runs` lacks."""
        known = {record.identity(run) for run in runs}
        return [one for one in self.identities() if one not in known]

    def chosen(self, runs: Iterable[Run]) -> list[Run]:
        """Return the runs that the table shows, in its order. None of them may be missing."""
        by_identity = {record.identity(run): run for run in runs}
        return [by_identity[one] for one in self.identities()]

    def command(self) -> str:
        """Return the command that measures, and prints, what the table shows."""
        words = ["./kloc compare", *self.workload_names]
        if self.policies != policy.COMPARED:
            words.append(f"--policies {','.join(self.policies)}")
        if self.seeds != 1:
            seeds = self.seeds if isinstance(self.seeds, tuple) else (self.seeds,)
            option = "--seed" if isinstance(self.seeds, tuple) and len(seeds) == 1 else "--seeds"
            words.append(f"{option} {','.join(map(str, seeds))}")
        if self.machine != profile.DEFAULT:
            words.append(f"--machine {self.machine}")
        words += [f"--{self.length}"] if self.length else []
        words += ["--cold"] if self.cold else []
        words += [f"--against {self.against}"] if self.against else []
        words += ["--details"] if self.form == Form.STALLS else []
        return " ".join(words)


def load(project: Path) -> dict[str, Wanted]:
    """Return the tables that a project's list has, by name.

    Raises KlocError, with the table and the key, if the list is wrong.
    """
    path = project / LIST
    content = toml_file.read(path, HINT)
    entries = content.pop("table", {})
    if content or not isinstance(entries, Mapping) or not entries:
        raise KlocError(f"{path}: expected tables [table.NAME], and nothing else", HINT)
    return {name: _entry(path, name, entry) for name, entry in entries.items()}


def choose(tables: Mapping[str, Wanted], names: Iterable[str]) -> list[Wanted]:
    """Return the tables of these names, all if there are none. Raises UsageError for another."""
    for name in names:
        if name not in tables:
            raise unknown("table", name, tables)
    return [tables[name] for name in dict.fromkeys(names)] or list(tables.values())


def _entry(path: Path, name: str, entry: Any) -> Wanted:
    key = f"table.{name}"
    if not isinstance(entry, Mapping):
        raise KlocError(f"{path}: {key} must be a table", HINT)
    found = toml_file.convert({**entry, "name": name}, Wanted, path, HINT, key)
    try:
        _check(found)
    except KlocError as error:
        raise KlocError(f"{path}: {key}: {error.message}", error.hint) from error
    return found


def _check(table: Wanted) -> None:
    """Raise KlocError if a table names something that does not exist, or does not fit together."""
    known: list[tuple[str, Iterable[str], Iterable[str]]] = [
        ("form", [table.form], [str(form) for form in Form]),
        ("workload", table.workloads, workload.names()),
        ("policy", table.policies, policy.names()),
        ("length", [table.length] if table.length else [], LENGTHS),
        (
            "policy",
            table.compared if table.form in (Form.RATIOS, Form.SPREAD) else (),
            table.policies,
        ),
        ("policy", [table.against] if table.against else [], table.policies),
    ]
    for what, names, choices in known:
        for name in names:
            if name not in choices:
                raise unknown(what, name, choices)
    if not table.policies or not table.seed_numbers or min(table.seed_numbers) < 0:
        raise UsageError("a table needs a policy, and one seed or more", HINT)
    if table.picture and not re.fullmatch(r"docs/([\w-]+/)*[\w-]+\.svg", table.picture):
        raise UsageError(
            f"picture {table.picture}: expected an .svg file in docs",
            "name it such as docs/pictures/compare.svg",
        )
    if table.form == Form.SPREAD and len(table.seed_numbers) < 2:
        raise UsageError("one seed has no spread", "name several, such as seeds = 8")
    if table.form in (Form.RATIOS, Form.SPREAD) and not table.against:
        baselines = ", ".join(ahead.BASELINES)
        if not set(ahead.BASELINES) & set(table.policies):
            raise UsageError("no baseline for ratios", f"add {baselines}, or name one: against")
    profile.load(table.machine)
