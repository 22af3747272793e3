# SPDX-License-Identifier: GPL-2.0
"""The result document of `kloc objects`; docs/results.md describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kloc.base import revision, stats
from kloc.measure.object_use import Uses, spread, uses
from kloc.measure.record import Run
from kloc.measure.workload import Size
from kloc.results import schema


def assemble(
    base: Mapping[str, Any], workload: str, runs: Mapping[str, Run], sizes: Mapping[str, Size]
) -> dict[str, Any]:
    """Return the document of a workload's observed runs, by the name of their input.

    `base` is a document of runs (see document.assemble), for the kernel, versions and machine.
    """
    first = next(iter(runs.values()))
    return {
        "schema": schema.SCHEMA,
        "kloc": first.get("kloc", revision.UNKNOWN),
        "workload": workload,
        "policy": first["policy"],
        "seed": first["seed"],
        "variant": first["machine"]["variant"],
        **{key: base[key] for key in ("kernel", "versions", "machine")},
        "measured": {
            name: {
                "load": sizes[name].load,
                **{key: run[key] for key in ("operations", "seconds", "instructions")},
                "pages_allocated": sum(use.allocated for use in uses(run["objects"]).values()),
                "references": sum(use.references for use in uses(run["objects"]).values()),
                "misses": sum(use.misses for use in uses(run["objects"]).values()),
            }
            for name, run in runs.items()
        },
        "inputs": {name: _kinds(uses(run["objects"])) for name, run in runs.items()},
    }


def _kinds(kinds: Uses) -> dict[str, Any]:
    """Return the use of each kind; references and misses are shares of all kinds together."""
    references = sum(use.references for use in kinds.values())
    misses = sum(use.misses for use in kinds.values())
    return {
        kind: {
            "pages_allocated": use.allocated,
            "pages_before": use.before,
            "pages_freed": use.freed,
            "pages_alive_at_end": use.alive_at_end,
            "references": stats.fraction(use.references, references),
            "misses": stats.fraction(use.misses, misses),
            "lifetime_ns": spread(use.lifetimes),
            "interval_ns": spread(use.intervals),
        }
        for kind, use in kinds.items()
    }
