# SPDX-License-Identifier: GPL-2.0
"""Whether policies are compared on the same work: the application's instructions per operation.

A policy that only places pages changes what the kernel executes, and how long instructions take,
but not what the application does for an operation. If that differs, something else does: work in
the background, such as RocksDB's compaction, falls into the region under one policy and not under
the other. Throughput then compares different work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from kloc.base.stats import ratios_by_seed
from kloc.measure.record import Run
from kloc.results import ahead

ALIKE = 0.03
"""Work that differs by up to this fraction is the same."""


def lines(document: Mapping[str, Any], wanted: str | None = None) -> list[str]:
    """Return a line for each workload and variant that did different work under some policies.

    They are compared with the baseline of `ahead.baseline`, seed by seed: the median of the ratios
    has to differ from 1 by more than ALIKE. The bounds and the oracle are compared, too.
    """
    against = ahead.baseline(document, wanted)
    if against is None:
        return []
    by_case: dict[str, list[Run]] = {}
    for run in document["runs"]:
        variant = run["machine"].get("variant")
        name = f"{run['workload']}, {variant}" if variant else run["workload"]
        by_case.setdefault(name, []).append(run)
    return [line for name, case in by_case.items() if (line := _line(name, case, against))]


def _line(name: str, case: Sequence[Run], against: str) -> str:
    """Return the line of a case, "" if all policies did the same work."""
    differing = []
    for policy in dict.fromkeys(run["policy"] for run in case):
        ratios = ratios_by_seed(_work(case, policy), _work(case, against))
        if ratios and abs(change := median(ratios.values()) - 1) > ALIKE:
            differing.append(
                (policy, f"{100 * abs(change):.0f} % {'fewer' if change < 0 else 'more'}")
            )
    if not differing:
        return ""
    (first, how), *others = differing
    rest = "".join(f"; {policy} ({share})" for policy, share in others)
    return (
        f"{name} did different work under {first} ({how} instructions of the application per "
        f"operation than under {against}){rest}"
    )


def _work(case: Sequence[Run], policy: str) -> dict[int, float]:
    """Return instructions in user mode per operation by seed; runs that lack one are left out."""
    return {
        run["seed"]: run["instructions"]["user"] / run["operations"]
        for run in case
        if run["policy"] == policy and run.get("instructions") and run["operations"]
    }
