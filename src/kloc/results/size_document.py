# SPDX-License-Identifier: GPL-2.0
"""The result document of `kloc size`: runs, and what they tell; docs/results.md describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from kloc.measure.record import Run
from kloc.measure.sizing import FOUND, REFERENCE, Answer, Sizing

PRICES = (Fraction(1, 3), Fraction(1, 4), Fraction(1, 5))
"""Prices of slow memory relative to fast memory (Thermostat, ASPLOS 2017, Table 4)."""

KEY = "sizing"


def assemble(base: Mapping[str, Any], search: Sizing, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the document `base` of runs with the answers of the search under KEY.

    `base` has the runs in the order in which they are written; its last key stays `runs`.
    """
    used = search.in_use(runs)
    references = [
        {"seed": run["seed"], "throughput": run["throughput"]}
        for run in runs
        if run["policy"] == REFERENCE
    ]
    found = {
        "workload": search.workload.name,
        "seed": search.seed,
        "check_seed": search.check_seed,
        "in_use_bytes": used,
        "sizes_bytes": search.sizes(runs),
        REFERENCE: references,
        "answers": [{**asdict(one), "savings": savings(one, used)} for one in search.answers(runs)],
    }
    head = {key: value for key, value in base.items() if key != "runs"}
    return {**head, KEY: found, "runs": search.in_order(runs)}


def savings(answer: Answer, used: int | None) -> dict[str, float] | None:
    """Return how much less memory costs by price of slow memory, as a fraction of all-fast.

    All-fast has all memory in use (`used`, in bytes) as fast memory; the found machine has
    `fast_bytes` of it, and the rest as slow memory. None if no size was found.
    """
    if answer.state != FOUND or answer.fast_bytes is None or not used:
        return None
    return saved(max(0.0, 1 - answer.fast_bytes / used))


def saved(slow: float) -> dict[str, float]:
    """Return how much less memory costs by price of slow memory, as a fraction of all-fast.

    `slow` is the fraction of the memory that is slow.
    """
    return {str(price): slow * float(1 - price) for price in PRICES}


def saved_text(savings: Mapping[str, float]) -> str:
    """Return savings as tables show them: in percent, in the order of PRICES."""
    return ", ".join(f"{100 * savings[str(price)]:.0f}" for price in PRICES) + " %"
