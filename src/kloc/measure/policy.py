# SPDX-License-Identifier: GPL-2.0
"""Policies: named kernel settings, which are written before a workload loads.

A policy is the file policies/NAME.toml of kloc, or of the user's configuration, or a file that is
given by its path:

    summary = "..."
    like = "kloc"            # optional: another policy, for all that this file does not set;
                             # the settings of this file win over all tables of the other
    timing = "fast"          # optional: time all memory as this tier (a bound)
    frames_from = "all-slow" # optional: time those page frames as fast memory that stalled
                             # cores most in the run of this policy (the oracle)
    expect = ["demoted"]     # optional: counters; if all are 0, the policy did nothing
    parameters = ["..."]     # optional: parameters of the kernel, from boot on
    bound = 3                # optional: the slowdown that the policy keeps, in percent; results
                             # say whether it did (kloc.results.bounds)
    [scheme], [swap]         # optional: DAMON and swap, see kloc.measure.scheme_use
    [daemon]                 # optional: a program in user space that is the policy, see
                             # kloc.base.daemon
    [set]                    # files of /proc/sys and /sys, and the values to write
    [divided]                # periods of the full-size machine in such files; each is
                             # divided by the machine's scale (docs/machine.md)
    [for.WORKLOAD]           # values for one workload, found by a search; these win
    [tune]                   # files, and for each the values that kloc tune tries
    [settings_of]            # files, and for each the policy whose value it gets, on each workload;
                             # a file that the other does not write is not written

`load` checks everything but the names of workloads, because that would execute all workload
files. kloc.measure.task checks them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kloc.base import daemon, paths
from kloc.base.daemon import Daemon
from kloc.base.errors import KlocError, unknown
from kloc.machine import toml_file
from kloc.machine.profile import Profile
from kloc.measure import scheme_use
from kloc.measure.scheme_use import SchemeTable, SchemeUse, SwapTable, SwapUse

POLICIES = paths.shipped("policies")
"""The policies that come with kloc."""

SUFFIX = ".toml"

_given: dict[str, Path] = {}
"""The files that were given by their paths, by the names of their policies."""

DEFAULT = "kloc"

COMPARED = ("all-slow", "naive", "stock", "tpp", "kloc", "oracle", "all-fast")
"""The default rows of a comparison, from the lower bound to the upper one."""

SELECTED = "/sys/kernel/mm/tiering/policy"
"""The file that selects a policy of the kernel; it is written last, after what the policy reads."""

OFF = ("0", "none", "naive")
"""Values of files that a kernel need not have: without the file, it does what they ask for."""

TIMINGS = ("fast", "slow")
COUNTERS = ("promoted", "demoted", "hint_faults", "monitored", "paged_out", "huge_pages")

HINT = 'docs/guide.md ("Add a policy") has an example with every table'

VALUE: Any = int | float | str
PERIOD: Any = int | float
"""The types of a setting, and of a period."""


class Description(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    rename={"for_workload": "for", "to_try": "tune"},
):
    """The content of a policy's file. None stands for a key that the file does not have.

    `daemon` is a Daemon once the file is read: the paths in the table are relative to that file.
    """

    summary: str | None = None
    like: str | None = None
    timing: str | None = None
    frames_from: str | None = None
    expect: list[str] | None = None
    parameters: list[str] | None = None
    bound: int | float | None = None
    set: dict[str, Any] = {}
    divided: dict[str, Any] = {}
    for_workload: dict[str, Any] = {}
    to_try: dict[str, Any] = {}
    settings_of: dict[str, Any] = {}
    scheme: SchemeTable | None = None
    swap: SwapTable | None = None
    daemon: Any = None


@dataclass(frozen=True)
class Policy:
    """A policy, complete with the settings that it has from others.

    `settings_of` only says which files are set as by which policy: their values are in the other
    tables. `for_workload` has the tables [for.WORKLOAD], and `to_try` has [tune]. The module's
    docstring describes the other keys.

    `fast_kinds` is in no file: these page kinds are timed as fast memory, and all others as slow
    memory (see kloc.measure.what_if).
    """

    name: str
    summary: str
    like: str | None = None
    timing: str | None = None
    frames_from: str | None = None
    expect: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    bound: float | None = None
    set: Mapping[str, str] = field(default_factory=dict)
    divided: Mapping[str, float] = field(default_factory=dict)
    for_workload: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    to_try: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings_of: Mapping[str, str] = field(default_factory=dict)
    fast_kinds: tuple[str, ...] | None = None
    scheme: SchemeUse | None = None
    swap: SwapUse | None = None
    daemon: Daemon | None = None

    def watching(self, workload: str, profile: Profile) -> dict[str, Any]:
        """Return the arguments of a Job that say what is watched, and what runs beside it.

        These are DAMON, swap, and the daemon.
        """
        return {
            "bounded": self.bound is not None,
            "swap": self.swap and self.swap.swap(profile),
            "damon": self.scheme and self.scheme.damon(workload, profile),
            "daemon": self.daemon,
        }

    @property
    def packages(self) -> tuple[str, ...]:
        """The Debian packages that the policy needs in the machine."""
        return self.daemon.packages if self.daemon else ()

    def settings(self, workload: str, profile: Profile) -> dict[str, str]:
        """Return the value of each file for a workload on a machine, in the order to write them."""
        periods = {path: str(profile.divided(value)) for path, value in self.divided.items()}
        values = {**self.set, **periods, **self.for_workload.get(workload, {})}
        if SELECTED in values:
            values[SELECTED] = values.pop(SELECTED)
        return values


def names() -> list[str]:
    """Return the names of all policies, those of COMPARED first."""
    known = set(_files())
    return [name for name in COMPARED if name in known] + sorted(known - set(COMPARED))


def _files() -> dict[str, Path]:
    return _given | paths.found("policies", SUFFIX, POLICIES)


def load(name: str) -> Policy:
    """Return the policy `name`, or that of the file `name` if that is a path.

    The name of the latter is that of its file without suffix. Raises KlocError if there is no such
    policy, or with the file and the key if its file is wrong.
    """
    if paths.is_path(name, SUFFIX):
        name = _give(Path(name))
    file = path(name)
    if not file.is_file():
        raise unknown("policy", name, names())
    own = _read(file)
    content = _complete(name, own)
    if content.summary is None:
        raise KlocError(f"{file}: summary is missing", HINT)
    if content.scheme is not None and content.daemon is not None:
        raise KlocError(f"{file}: a policy has [scheme] or [daemon], and not both", HINT)
    return Policy(
        name=name,
        summary=content.summary,
        like=content.like,
        timing=content.timing,
        frames_from=content.frames_from,
        expect=tuple(content.expect or ()),
        parameters=tuple(content.parameters or ()),
        bound=None if content.bound is None else float(content.bound),
        set=_texts(content.set),
        divided={key: float(value) for key, value in content.divided.items()},
        for_workload={workload: _texts(table) for workload, table in content.for_workload.items()},
        to_try={key: tuple(map(str, tried)) for key, tried in own.to_try.items()},
        settings_of=own.settings_of,
        scheme=scheme_use.read_scheme(content.scheme, file, HINT) if content.scheme else None,
        swap=scheme_use.read_swap(content.swap, file) if content.swap else None,
        daemon=content.daemon,
    )


def path(name: str) -> Path:
    """Return the path of the file of the policy `name`, which may not exist."""
    if paths.is_path(name, SUFFIX):
        return Path(name)
    return _files().get(name, POLICIES / f"{name}{SUFFIX}")


def _give(file: Path) -> str:
    """Make the policy of a file known, and return its name.

    Raises KlocError if the file does not exist, or another policy has its name.
    """
    if not file.is_file():
        raise KlocError(f"{file} does not exist", "name a policy, or a file that exists")
    name = file.name.removesuffix(SUFFIX)
    known = _files().get(name)
    if known is not None and not known.samefile(file):
        raise KlocError(f"{file}: there is another policy named {name}, {known}", "rename the file")
    _given[name] = file
    return name


def _complete(name: str, content: Description) -> Description:
    """Return the content of the file of the policy `name`, with all that it has from others."""
    if content.like is not None:
        content = _combined(_base(name, content.like), content)
    for file, other in content.settings_of.items():
        content = _as_in(_other(name, other), content, file)
    return content


def _other(name: str, other: str) -> Description:
    """Return the complete content of the policy `other`, which settings_of of `name` names."""
    _check_other(name, "settings_of", other)
    content = _read(path(other))
    if content.settings_of:
        raise KlocError(
            f"{path(name)}: settings_of names {other!r}, which has settings of others itself",
            f"name the policy that it has them from: {path(other)} says which",
        )
    return _complete(other, content)


def _as_in(other: Description, content: Description, file: str) -> Description:
    """Return `content` with the same settings of `file` as `other`, in the same tables."""

    def replaced(table: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
        same = {file: others[file]} if file in others else {}
        return {**_without(table, [file]), **same}

    tables = {
        workload: replaced(
            content.for_workload.get(workload, {}), other.for_workload.get(workload, {})
        )
        for workload in {**content.for_workload, **other.for_workload}
    }
    return msgspec.structs.replace(
        content,
        set=replaced(content.set, other.set),
        divided=replaced(content.divided, other.divided),
        for_workload={workload: table for workload, table in tables.items() if table},
    )


def _check_other(name: str, key: str, other: str) -> None:
    """Raise KlocError unless `other`, which the policy `name` names in `key`, is another policy."""
    if other == name or not path(other).is_file():
        others = [known for known in names() if known != name]
        raise _unknown(path(name), f"policy in {key}:", other, others)


def _base(name: str, like: str) -> Description:
    """Return the complete content of the policy `like`, which the policy `name` is like."""
    _check_other(name, "like", like)
    base = _read(path(like))
    if base.like is not None:
        raise KlocError(
            f"{path(name)}: like is {like!r}, which is itself like {base.like!r}",
            f"set like to a policy that has no like, such as {base.like!r}",
        )
    return msgspec.structs.replace(_complete(like, base), settings_of={})


def _read(file: Path) -> Description:
    """Return the content of a policy's file. Raises KlocError if a part of it is wrong."""
    content = toml_file.convert(toml_file.read(file, HINT), Description, file, HINT)
    if content.timing is not None and content.timing not in TIMINGS:
        raise _unknown(file, "timing", content.timing, TIMINGS)
    for counter in content.expect or ():
        if counter not in COUNTERS:
            raise _unknown(file, "counter in expect:", counter, COUNTERS)
    if content.bound is not None and not 0 < content.bound <= 100:
        raise KlocError(f"{file}: bound is {content.bound}, and must be a percentage above 0", HINT)
    _check_settings(content.set, VALUE, file, "set")
    _check_settings(content.divided, PERIOD, file, "divided")
    for workload, table in content.for_workload.items():
        key = f"for.{workload}"
        _check_settings(toml_file.convert(table, dict, file, HINT, key), VALUE, file, key)
    _check_settings(content.to_try, list[VALUE], file, "tune")
    for setting, tried in content.to_try.items():
        if len(set(tried)) < 2:
            raise KlocError(f'{file}: tune."{setting}" has fewer than two values to try', HINT)
    _check_settings(content.settings_of, str, file, "settings_of")
    for table in (content.set, content.divided, *content.for_workload.values()):
        if twice := next((setting for setting in content.settings_of if setting in table), None):
            raise KlocError(f"{file}: {twice} is in settings_of and in another table", HINT)
    if content.daemon is not None:
        content = msgspec.structs.replace(content, daemon=daemon.parse(content.daemon, file))
    return content


def _check_settings(table: Mapping[str, Any], expected: Any, file: Path, key: str) -> None:
    """Raise KlocError unless the table `key` sets files of /proc/sys and /sys to `expected`."""
    for name, value in table.items():
        where = f'{key}."{name}"'
        if not name.startswith(("/proc/sys/", "/sys/")):
            raise KlocError(f"{file}: {where} is not a file under /proc/sys or /sys", HINT)
        toml_file.convert(value, expected, file, HINT, where)
        if isinstance(value, float) and not math.isfinite(value):
            raise KlocError(f"{file}: {where} is {value}, and must be a finite number", HINT)


def _unknown(file: Path, what: str, name: str, known: Iterable[str]) -> KlocError:
    """Return the error for `name` in the file `file`, which is not among `known`."""
    error = unknown(what, name, known)
    return KlocError(f"{file}: {error.message}", error.hint)


def _combined(base: Description, own: Description) -> Description:
    """Return `own` with all that it does not set from `base`.

    Settings of `base` are written first, because files that `own` adds may depend on them.
    """
    own_files = {**own.set, **own.divided}
    absent = {
        key: getattr(base, key)
        for key in (
            *("summary", "timing", "frames_from", "expect", "parameters"),
            *("bound", "scheme", "swap", "daemon"),
        )
        if getattr(own, key) is None
    }
    return msgspec.structs.replace(
        own,
        **absent,
        set={**_without(base.set, own.divided), **own.set},
        divided={**_without(base.divided, own.set), **own.divided},
        for_workload={
            workload: {
                **_without(base.for_workload.get(workload, {}), own_files),
                **own.for_workload.get(workload, {}),
            }
            for workload in {**base.for_workload, **own.for_workload}
        },
    )


def _without(table: Mapping[str, Any], files: Iterable[str]) -> dict[str, Any]:
    """Return the table without settings of `files`."""
    return {file: value for file, value in table.items() if file not in files}


def _texts(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the table as the text that is written to each file."""
    return {file: str(value) for file, value in table.items()}
