# SPDX-License-Identifier: GPL-2.0
"""What a policy that keeps a bound on slowdown has counted (machine/guest/kloc-bound.c)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kloc.base.errors import KlocError

REGION_BYTES = 2 << 20
"""The size of a region of memory that the policy counts and moves."""

SETTING = "fault_ns"
"""The first word of the line with the cost of a fault that counts a visit."""

BEGIN = "region"
"""The line before the sample with which the measured region begins."""

FRAME = "bound"
"""The name of the agent's frame with the samples."""


def bound(frames: Mapping[str, str], percent: float | None) -> dict[str, Any] | None:
    """Return the budgets of a policy with a bound of `percent`; None if they were not sampled.

    `counted` and `came_back_bytes` are of the region: visits that were counted, and memory that
    came back from slow memory as it was visited too often. In `series`, times are from the
    beginning of the region, negative in the warm-up; `came_back_bytes` and `counted` are totals
    since the policy was selected. Raises KlocError if a part of the samples is missing.
    """
    if percent is None or FRAME not in frames:
        return None
    fault_ns = None
    begin = None
    samples: list[list[int]] = []
    for line in frames[FRAME].splitlines():
        words = line.split()
        if words[0] == SETTING:
            fault_ns = int(words[1])
        elif words[0] == BEGIN:
            begin = len(samples)
        else:
            samples.append([int(word) for word in words])
    if fault_ns is None or begin is None or begin + 1 >= len(samples):
        raise KlocError(
            "the budgets of the bound were not sampled in the measured region",
            "kloc-bound keeps 100,000 samples: measure a shorter program",
        )
    times, budgets, costs, cold, came_back, counted = (
        list(column) for column in zip(*samples, strict=True)
    )
    return {
        "percent": percent,
        SETTING: fault_ns,
        "counted": counted[-1] - counted[begin],
        "came_back_bytes": REGION_BYTES * (came_back[-1] - came_back[begin]),
        "series": {
            "t_ns": [time - times[begin] for time in times],
            "budget_ns": budgets,
            "cost_ns": costs,
            "cold_bytes": [REGION_BYTES * count for count in cold],
            "came_back_bytes": [REGION_BYTES * count for count in came_back],
            "counted": counted,
        },
    }
