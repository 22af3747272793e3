# SPDX-License-Identifier: GPL-2.0
"""Policies: a name for what is set in the kernel before a workload loads.

A policy is a TOML file under policies/:

    summary = "..."
    like = "kloc"            # optional: what this policy does not set is as in that one;
                             # what it does set wins over all tables of that one
    timing = "fast"          # optional: time all memory as this tier (a bound)
    computed = "all-slow"    # optional: nothing runs, derived from this policy's run
    expect = ["demoted"]     # optional: counters; it did nothing if all are 0
    [set]                    # files of /proc and /sys, and what is written to them
    [divided]                # the same for periods of the full-size machine: each
                             # is divided by the machine's scale (DESIGN.md, Scale)
    [for.WORKLOAD]           # what a search found best for one workload; wins
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kloc.base.errors import KlocError, unknown
from kloc.base.paths import PROJECT
from kloc.machine.profile import Profile
from kloc.measure import workload

POLICIES = PROJECT / "policies"
DEFAULT = "kloc"
# The rows of a comparison when none are asked for, worst bound to best.
COMPARED = (
    "all-slow",
    "naive",
    "stock",
    "autonuma",
    "tpp",
    "kloc-nomigrate",
    "kloc",
    "oracle",
    "all-fast",
)
TIMINGS = ("fast", "slow")
COUNTERS = ("promoted", "demoted", "hint_faults")
TABLES = ("set", "divided", "for")


@dataclass(frozen=True)
class Policy:
    """What one policy is and sets; see the module's text for each field.

    `fast_kinds` is in no file: with it, pages are timed by their kind (see kloc.measure.what_if).
    """

    name: str
    summary: str
    timing: str | None = None
    computed: str | None = None
    expect: tuple[str, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    divided: Mapping[str, float] = field(default_factory=dict)
    tuned: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fast_kinds: tuple[str, ...] | None = None

    def settings(self, workload: str, profile: Profile) -> dict[str, str]:
        """Return the files to write, and what, in order, for a workload on a machine."""
        periods = {
            path: str(max(1, round(value / profile.scale))) for path, value in self.divided.items()
        }
        return {**self.set, **periods, **self.tuned.get(workload, {})}


def names() -> list[str]:
    """Return the names of the policies that there are, in the order of a comparison."""
    known = {path.stem for path in POLICIES.glob("*.toml")}
    return [name for name in COMPARED if name in known] + sorted(known - set(COMPARED))


def load(name: str) -> Policy:
    """Return the policy of that name; KlocError if there is none or its file is wrong."""
    path = POLICIES / f"{name}.toml"
    if not path.is_file():
        raise unknown("policy", name, names())
    text = _read(path)
    like = str(text.get("like", ""))
    if not like:
        return _parse(name, str(path), text)
    other = POLICIES / f"{like}.toml"
    if like == name or not other.is_file():
        raise unknown(f"{path}: like", like, [each for each in names() if each != name])
    theirs = _read(other)
    if "like" in theirs:
        raise KlocError(f"{path}: {like} is like another policy itself; name that one")
    return _parse(name, str(path), _over(theirs, text))


def _read(path: Path) -> dict[str, Any]:
    try:
        text = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KlocError(f"{path}: {error}") from error
    tables = {f"[{name}]": text.get(name, {}) for name in TABLES}
    if isinstance(text.get("for"), Mapping):
        tables |= {f"[for.{name}]": table for name, table in text["for"].items()}
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise KlocError(f"{path}: {name} must be a table of files and what they are set to")
    return text


def _over(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return what both say, `ours` where they differ; their settings are written first."""
    files, periods = ours.get("set", {}), ours.get("divided", {})
    tuned, their_tuned = ours.get("for", {}), theirs.get("for", {})
    return {
        **theirs,
        **ours,
        "set": _joined(theirs.get("set", {}), files, without=periods),
        "divided": _joined(theirs.get("divided", {}), periods, without=files),
        "for": {
            name: _joined(
                their_tuned.get(name, {}), tuned.get(name, {}), without={**files, **periods}
            )
            for name in {**their_tuned, **tuned}
        },
    }


def _joined(
    theirs: Mapping[str, Any], ours: Mapping[str, Any], without: Mapping[str, Any]
) -> dict[str, Any]:
    """Return both tables as one; of `theirs` nothing that `without` has."""
    return {**{path: value for path, value in theirs.items() if path not in without}, **ours}


def _parse(name: str, path: str, text: Mapping[str, Any]) -> Policy:
    allowed = ["summary", "like", "timing", "computed", "expect", *TABLES]
    for key in text:
        if key not in allowed:
            raise unknown(f"{path}: key", key, allowed)
    if not isinstance(text.get("summary"), str):
        raise KlocError(f"{path}: summary is missing")
    if text.get("timing") not in (None, *TIMINGS):
        raise unknown(f"{path}: timing", str(text["timing"]), list(TIMINGS))
    for counter in text.get("expect", []):
        if counter not in COUNTERS:
            raise unknown(f"{path}: counter", str(counter), list(COUNTERS))
    for tuned in text.get("for", {}):
        if tuned not in workload.names():
            raise unknown(f"{path}: [for.{tuned}]: workload", tuned, workload.names())
    return Policy(
        name=name,
        summary=text["summary"],
        timing=text.get("timing"),
        computed=text.get("computed"),
        expect=tuple(text.get("expect", ())),
        set=_files(path, text.get("set", {})),
        divided=_periods(path, text.get("divided", {})),
        tuned={what: _files(path, table) for what, table in text.get("for", {}).items()},
    )


def _files(path: str, table: Mapping[str, Any]) -> dict[str, str]:
    for key, value in table.items():
        if not key.startswith(("/proc/sys/", "/sys/")):
            raise KlocError(f"{path}: {key} is no file under /proc/sys or /sys")
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise KlocError(f"{path}: {key} is set to {value!r}, and must be a number or a text")
    return {key: str(value) for key, value in table.items()}


def _periods(path: str, table: Mapping[str, Any]) -> dict[str, float]:
    for key, value in table.items():
        if isinstance(value, str):
            raise KlocError(f"{path}: {key} is set to {value!r}, and must be a number to divide")
    return {key: float(value) for key, value in _files(path, table).items()}
