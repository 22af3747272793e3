# SPDX-License-Identifier: GPL-2.0
"""Result documents of runs: what `--json` writes, reading it again, comparing and joining it.

docs/results.md describes the files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kloc.base.errors import KlocError
from kloc.build import pins
from kloc.machine.parts import Parts
from kloc.measure.record import Run, identity
from kloc.measure.workload import FULL, LENGTHS
from kloc.results import inputs, schema

UNCHANGED = "unchanged"
"""The name, in tables, of the machine variant that is the profile itself."""

MISSING = "(missing)"
"""Stands for the value of a key that a document lacks."""

OF_A_GUEST = ("versions.guest.", "versions.not_pinned", "versions.programs.")
"""The beginnings of keys that depend on which workloads a document has."""

FULL_SIZE = "full size"
"""The name, in tables, of the size of a run without --quick and --long."""


def assemble(
    parts: Iterable[Parts], profile: Mapping[str, Any], runs: Iterable[Run]
) -> dict[str, Any]:
    """Return the document of these runs; `parts` are those of all machines that ran."""
    machines = list(parts)
    first = machines[0]
    guest = {
        name: version for machine in machines for name, version in machine.image.versions.items()
    }
    return {
        "schema": schema.SCHEMA,
        "kernel": first.kernel.described(),
        "versions": {
            **first.root.versions(),
            "qemu": first.qemu.version,
            "plugin": first.plugin.parent.name,
            "programs": {
                path.name: path.parent.name for machine in machines for path in machine.programs
            },
            "guest": guest,
            "not_pinned": {
                name: {"pinned": pinned, "used": used}
                for name, (pinned, used) in pins.missed({**first.root.packages(), **guest}).items()
            },
        },
        "machine": dict(profile),
        "runs": list(runs),
    }


def read(path: Path) -> dict[str, Any]:
    """Return the document in a file: runs, or what `kloc objects` wrote.

    Keys that this kloc does not know are kept. Raises KlocError if the file cannot be read, or its
    structure is not that of schema.py.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content: dict[str, Any] = json.loads(text, parse_constant=_refuse_constant)
    except OSError as error:
        raise KlocError(f"cannot read {path}: {error.strerror}", schema.HINT) from error
    except (ValueError, RecursionError) as error:
        raise KlocError(f"{path} is not a result file of kloc: not JSON", schema.HINT) from error
    schema.validate(path, content)
    return content


def _refuse_constant(name: str) -> float:
    """Raise ValueError: JSON has no NaN and no infinities, though Python reads them."""
    raise ValueError(name)


def is_object_document(content: Mapping[str, Any]) -> bool:
    """Return whether `kloc objects` wrote the document, which then has no runs."""
    return "inputs" in content


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return how two documents of runs differ in what their figures depend on, one line each."""
    runs = one["runs"], other["runs"]
    versions = _version_differences(one, other)
    return [
        *(f"{key}: {first} vs. {second}" for key, first, second in versions),
        *_described_differences("variants", _variants, *runs),
        *size_differences(*runs),
        *inputs.differences(*runs),
    ]


def contradictions(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return how kernel, versions and machine of two documents contradict each other.

    Unlike a difference, a package or program that only one guest has is none: the documents may
    have different workloads.
    """
    versions = _version_differences(one, other)
    return [
        f"{key}: {first} vs. {second}"
        for key, first, second in versions
        if not (key.startswith(OF_A_GUEST) and MISSING in (first, second))
    ]


def size_differences(one: Iterable[Run], other: Iterable[Run]) -> list[str]:
    """Return how two sets of runs differ in size and warm-up, one line each."""
    runs = list(one), list(other)
    return [
        *_described_differences("sizes", _sizes, *runs),
        *_described_differences("warm-up", _warm_ups, *runs),
    ]


def with_guests_of(content: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with what its versions say of the guests of `other`, too."""
    ours, others = content["versions"], other["versions"]
    # Our own come first, in their order.
    joined = {
        key: {**ours[key], **others.get(key, {}), **ours[key]}
        for key in ("programs", "guest", "not_pinned")
    }
    return {**content, "versions": {**ours, **joined}}


def _version_differences(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the keys of kernel, versions and machine whose values differ, with both values.

    The key `native` has the server of a native comparison; what a machine has measured has none.
    """
    for part in ("kernel", "versions", "machine", "native"):
        flats = [_flatten(document.get(part, {}), part) for document in (one, other)]
        for key in sorted(flats[0].keys() | flats[1].keys()):
            first, second = (flat.get(key, MISSING) for flat in flats)
            if first != second:
                yield key, first, second


def _described_differences(
    label: str, describe: Callable[[Sequence[Run]], str], one: Sequence[Run], other: Sequence[Run]
) -> list[str]:
    texts = describe(one), describe(other)
    return [] if texts[0] == texts[1] else [f"{label}: {texts[0]} vs. {texts[1]}"]


def join(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return one document with the runs of several, None if they do not belong in one table.

    That is so for a single document, if they differ (see `differences`) or share a run, and for
    native comparisons, each of which has rounds of its own.
    """
    runs = [run for document in documents for run in document["runs"]]
    if any("native" in document for document in documents):
        return None
    if len(documents) < 2 or len({identity(run) for run in runs}) < len(runs):
        return None
    if any(differences(documents[0], other) for other in documents[1:]):
        return None
    return {**documents[0], "runs": runs}


def size_option(run: Run) -> str:
    """Return the option that gives a run its size: "quick", "long", or "" for the full size."""
    size = run.get("size", asdict(FULL))
    return next((name for name, length in LENGTHS.items() if asdict(length) == size), "")


def is_cold(run: Run) -> bool:
    """Return whether a run was measured without a warm-up because the user asked for that."""
    return bool(run.get("cold"))


def _sizes(runs: Iterable[Run]) -> str:
    return ", ".join(sorted({size_option(run) or FULL_SIZE for run in runs}))


def _warm_ups(runs: Iterable[Run]) -> str:
    return ", ".join(sorted({"none" if is_cold(run) else "before the region" for run in runs}))


def _variants(runs: Iterable[Run]) -> str:
    return "; ".join(sorted({run["machine"].get("variant") or UNCHANGED for run in runs}))


def _flatten(value: Any, prefix: str) -> dict[str, Any]:
    """Return the values of nested mappings by their keys, joined with dots."""
    if not isinstance(value, Mapping):
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        flat.update(_flatten(inner, f"{prefix}.{key}"))
    return flat
