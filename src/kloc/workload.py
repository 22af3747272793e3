# SPDX-License-Identifier: GPL-2.0
"""The names that workload files import, under the module's earlier name.

Workload files outside this project say `from kloc.workload import Workload`. The module itself is
kloc.measure.workload.
"""

from __future__ import annotations

from kloc.measure.workload import (
    FULL,
    LENGTHS,
    LONG,
    PERCENTILES,
    QUICK,
    SOURCES,
    WORKLOADS,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    histogram,
    load,
    names,
    percentiles,
)

__all__ = [
    "FULL",
    "LENGTHS",
    "LONG",
    "PERCENTILES",
    "QUICK",
    "SOURCES",
    "WORKLOADS",
    "Outcome",
    "Size",
    "Workload",
    "WorkloadFailed",
    "histogram",
    "load",
    "names",
    "percentiles",
]
