# SPDX-License-Identifier: GPL-2.0
"""Compares what runs were made from: the hashes that each run has as `inputs`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from kloc.base import hashes
from kloc.machine.inputs import OF_THE_JOB
from kloc.measure.record import Run, identity

SHOWN = 8
"""How many digits of a hash are printed."""

OF_ALL_RUNS = ("kernel", "qemu", "plugin")
FIRMWARE = "firmware_"
"""The inputs that all runs of one checkout have in common, and how the names of others begin."""

Pair = tuple[str, str]


def fingerprint(runs: Iterable[Run]) -> str | None:
    """Return one hash of the inputs of all runs, in whatever order they are.

    None if there is no run, or if a run has no inputs because an older kloc measured it.
    """
    inputs = [[*identity(run), run.get("inputs")] for run in runs]
    if not inputs or not all(one[-1] for one in inputs):
        return None
    return hashes.of_text(json.dumps(sorted(inputs, key=json.dumps), sort_keys=True))


def lines(runs: Iterable[Run]) -> list[str]:
    """Return the lines below a table that say what it was measured with: one, or none."""
    found = fingerprint(runs)
    return [f"inputs {found}"] if found else []


def mixed(runs: Iterable[Run]) -> list[str]:
    """Return the inputs of which runs should have the same, and have several: "kernel", "qemu".

    These are the ones that do not depend on workload, policy, seed and machine.
    """
    hashes_by_name: dict[str, set[str]] = {}
    for run in runs:
        for name, value in (run.get("inputs") or {}).items():
            if name in OF_ALL_RUNS or name.startswith(FIRMWARE):
                hashes_by_name.setdefault(name, set()).add(value)
    return [name for name, found in hashes_by_name.items() if len(found) > 1]


def differences(one: Sequence[Run], other: Sequence[Run]) -> list[str]:
    """Return how the inputs of two sets of runs differ.

    A line is, for example, `inputs of rocksdb/*: kernel 71c8aa03… vs. 9ab0c1d2…, job_disk`.
    Runs that both sets have are compared in all inputs. If they share no run of a workload, the
    inputs are compared that all runs of the workload have in common. A hash is left out if it is
    another one in each run.
    """
    found = []
    for workload in dict.fromkeys(run["workload"] for run in one):
        pairs = _pairs(_inputs(one, workload), _inputs(other, workload))
        for names, runs in _by_runs(pairs).items():
            where = _describe(workload, runs, pairs)
            what = ", ".join(_values(name, [pairs[run][name] for run in runs]) for name in names)
            found.append(f"inputs of {where}: {what}")
    return found


Inputs = Mapping[tuple[str, ...], Mapping[str, str]]
"""The inputs of a workload's runs, by policy, seed and variant."""

Pairs = Mapping[tuple[str, ...], Mapping[str, Pair]]
"""The inputs that differ, with both hashes, of each run that was compared."""


def _inputs(runs: Sequence[Run], workload: str) -> Inputs:
    return {
        identity(run)[1:]: run["inputs"]
        for run in runs
        if run["workload"] == workload and run.get("inputs")
    }


def _pairs(one: Inputs, other: Inputs) -> Pairs:
    if shared := [run for run in one if run in other]:
        return {run: _differing(one[run], other[run]) for run in shared}
    if not one or not other:
        return {}
    first, second = (next(iter(inputs.values())) for inputs in (one, other))
    pairs = _differing(first, second)
    return {(): {name: pair for name, pair in pairs.items() if name not in OF_THE_JOB}}


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, Pair]:
    values = {name: (one.get(name, "none"), other.get(name, "none")) for name in {**one, **other}}
    return {name: pair for name, pair in values.items() if pair[0] != pair[1]}


def _by_runs(pairs: Pairs) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the runs that differ in the same inputs, by the names of these."""
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for run, differing in pairs.items():
        if differing:
            groups.setdefault(tuple(differing), []).append(run)
    return groups


def _describe(workload: str, runs: Sequence[tuple[str, ...]], pairs: Pairs) -> str:
    """Return the names of runs: `redis/*` for all runs, `redis/tpp` for all runs of a policy."""
    if len(runs) == len(pairs):
        return f"{workload}/*"
    names = []
    for policy in dict.fromkeys(run[0] for run in runs):
        own = [run for run in runs if run[0] == policy]
        if len(own) == len([run for run in pairs if run[0] == policy]):
            names.append(f"{workload}/{policy}")
        else:
            names += [_name(workload, *run) for run in own]
    return "; ".join(names)


def _name(workload: str, policy: str, seed: str, variant: str) -> str:
    return ", ".join(filter(None, (f"{workload}/{policy}", f"seed {seed}", variant)))


def _values(name: str, pairs: Sequence[Pair]) -> str:
    if len(set(pairs)) > 1:
        return name
    one, other = (value if value == "none" else f"{value[:SHOWN]}…" for value in pairs[0])
    return f"{name} {one} vs. {other}"
