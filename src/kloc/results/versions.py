# SPDX-License-Identifier: GPL-2.0
"""The lines below a table that say of which versions its figures are, and if they are pinned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kloc.base import revision
from kloc.base.words import plural
from kloc.measure.record import Run

COMMIT = "commit"
"""The key of the result files of kloc bench tables that has the commit of all of their runs."""

NAMED = 3
"""How many packages the line names that are not of the pinned version."""


def lines(document: Mapping[str, Any]) -> list[str]:
    """Return the line of a document of runs; none if an older kloc wrote it without the pins."""
    versions = document["versions"]
    others: Mapping[str, Mapping[str, str]] | None = versions.get("not_pinned")
    if others is None:
        return []
    kernel = document["kernel"]
    # A kernel that this project did not build is not of the pinned source.
    linux = versions["linux-source"] if "series" in kernel else kernel["release"]
    tools = f"Linux {linux}, QEMU {versions['qemu']}, gcc {versions['gcc']}"
    if not others:
        return [f"versions {tools}; all packages as pinned"]
    named = [f"{name} {one['used']} for {one['pinned']}" for name, one in sorted(others.items())]
    more = [f"and {len(named) - NAMED} more"] if len(named) > NAMED else []
    return [
        f"versions {tools}; {plural(len(named), 'package')} not as pinned, so figures may differ "
        f"from README's: {', '.join([*named[:NAMED], *more])}"
    ]


def commits(runs: Iterable[Run]) -> dict[str, list[str]]:
    """Return the commits of kloc that measured the runs, each with the runs: WORKLOAD/POLICY.

    Runs of an older kloc, which did not record its commit, are those of `revision.UNKNOWN`.
    """
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        name = f"{run['workload']}/{run['policy']}"
        found.setdefault(run.get("kloc", revision.UNKNOWN), {})[name] = None
    return {commit: list(names) for commit, names in found.items()}


def commit_lines(runs: Iterable[Run]) -> list[str]:
    """Return which commit of kloc measured the runs: a line for each if there are several."""
    found = commits(runs)
    if len(found) == 1:
        return [f"commit of kloc: {commit}" for commit in found]
    return [f"commit of kloc: {commit} ({', '.join(names)})" for commit, names in found.items()]
