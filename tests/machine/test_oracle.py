# SPDX-License-Identifier: GPL-2.0
"""The oracle is as good as the best of all placements of a small program's memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kloc.measure import workload
from kloc.measure.workload import Outcome, Size, Workload
from support.command import run
from support.in_machine import SOURCES

pytestmark = pytest.mark.machine

BEST = 1.02
"""The longest that the oracle may take, as a multiple of the best placement."""


def outcome(printed: Mapping[str, str], _: Size) -> Outcome:
    """Return the times in ns that the program printed, by placement, as figures."""
    lines = (line.split() for line in printed["measured"].splitlines())
    return Outcome(1, None, figures={name: float(ns) for name, ns in lines})


def sets(name: str, measured: str) -> Workload:
    return Workload(
        name=name,
        summary="four sets of memory, read in different ways",
        packages=(),
        setup=lambda *_: "true\n",
        measured=lambda *_: measured,
        check=None,
        outcome=outcome,
        programs=(str(SOURCES / "sets.c"),),
        repeatable=False,
    )


WORKLOADS = {one.name: one for one in (sets("placed", "sets pairs\n"), sets("anywhere", "sets\n"))}


def times(directory: Path, name: str, *policies: str) -> dict[str, dict[str, float]]:
    """Return the times of `kloc compare` in ns by placement, by policy."""
    path = directory / f"{name}.json"
    assert run("compare", name, "--policies", ",".join(policies), "--json", str(path)) == 0
    return {one["policy"]: one["figures"] for one in json.loads(path.read_text())["runs"]}


def test_the_oracle_is_as_fast_as_the_best_placement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = workload.names()
    monkeypatch.setattr(workload, "names", lambda: [*known, *WORKLOADS])
    monkeypatch.setattr(workload, "load", lambda name: WORKLOADS[name])
    pairs = times(tmp_path, "placed", "naive")["naive"]
    anywhere = times(tmp_path, "anywhere", "all-slow", "oracle")
    slow, chosen = (anywhere[policy]["kernel"] for policy in ("all-slow", "oracle"))
    best, second, *others = sorted(pairs, key=lambda pair: pairs[pair])
    # Placement matters, and the sets with the most misses are not the best ones.
    assert best == "0,3" and len(others) == 4
    assert 1.05 * pairs[best] < pairs[second] < slow
    assert chosen < BEST * pairs[best], (chosen, pairs)
