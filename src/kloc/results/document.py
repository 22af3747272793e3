# SPDX-License-Identifier: GPL-2.0
"""Results: what a run's raw output says, in the form that files and tables have.

The form of a result file, schema 1, is described in docs/results.md; later
work adds keys and keeps these.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kloc.base.errors import KlocError
from kloc.machine.parts import Parts
from kloc.measure.record import Run
from kloc.measure.workload import FULL, LENGTHS

SCHEMA = 1


def assemble(
    parts: Iterable[Parts], profile: Mapping[str, Any], runs: Iterable[Run]
) -> dict[str, Any]:
    """Return a whole result file's content; `parts` are those of all machines that ran."""
    all_parts = list(parts)
    one = all_parts[0]
    return {
        "schema": SCHEMA,
        "kernel": {"release": one.kernel.release, "series": one.kernel.series},
        "versions": {
            **one.root.versions(),
            "plugin": one.plugin.parent.name,
            "programs": {
                path.name: path.parent.name for each in all_parts for path in each.programs
            },
            "guest": {
                name: version for each in all_parts for name, version in each.image.versions.items()
            },
        },
        "machine": dict(profile),
        "runs": list(runs),
    }


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a result file, whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(json.dumps(content, indent=1) + "\n")
        draft.rename(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise KlocError(f"{path} cannot be written: {error.strerror}") from error


def read(path: Path) -> dict[str, Any]:
    """Return what a file has of runs, or of `kloc objects`; KlocError if it has neither."""
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        schema = content["schema"]
        if not is_of_objects(content):
            content["runs"][0]["workload"]
    except OSError as error:
        raise KlocError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise KlocError(f"{path} is no result of kloc", "make one with --json FILE") from error
    if schema != SCHEMA:
        raise KlocError(f"{path} has schema {schema}, and this kloc reads {SCHEMA}")
    return content


def is_of_objects(content: Mapping[str, Any]) -> bool:
    """Return whether a file's content is what `kloc objects` wrote: it has no runs."""
    return "inputs" in content


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return what differs between what two results depend on, one line each."""
    lines = []
    for part in ("kernel", "versions", "machine"):
        flat_one, flat_other = _flat(one[part], part), _flat(other[part], part)
        for key in sorted(flat_one.keys() | flat_other.keys()):
            if flat_one.get(key) != flat_other.get(key):
                lines.append(f"{key}: {flat_one.get(key)} against {flat_other.get(key)}")
    variants_one, variants_other = _variants(one["runs"]), _variants(other["runs"])
    if variants_one != variants_other:
        lines.append(f"variants: {variants_one} against {variants_other}")
    sizes_one, sizes_other = _sizes(one["runs"]), _sizes(other["runs"])
    if sizes_one != sizes_other:
        lines.append(f"sizes: {sizes_one} against {sizes_other}")
    return lines


def joined(contents: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return several files' results as those of one comparison; None if they are not.

    They are not if there is only one, they differ (see `differences`) or have the same run twice.
    """
    runs = [run for content in contents for run in content["runs"]]
    made = {(run["workload"], run["policy"], run["seed"], _variants([run])) for run in runs}
    if len(contents) < 2 or len(made) < len(runs):
        return None
    if any(differences(contents[0], other) for other in contents[1:]):
        return None
    return {**contents[0], "runs": runs}


def length(run: Run) -> str:
    """Return "", "quick" or "long": the option that makes a run of this size."""
    size = run.get("size", asdict(FULL))
    return next((name for name, each in LENGTHS.items() if asdict(each) == size), "")


def _sizes(runs: Iterable[Run]) -> str:
    return "; ".join(sorted({length(run) or "whole" for run in runs}))


def _variants(runs: Iterable[Run]) -> str:
    names = dict.fromkeys(run["machine"].get("variant") or "as it is" for run in runs)
    return "; ".join(sorted(names))


def _flat(value: Any, prefix: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        flat.update(_flat(inner, f"{prefix}.{key}"))
    return flat
