# SPDX-License-Identifier: GPL-2.0
"""Workloads: real programs, how they are loaded, measured and checked.

A workload is a Python file under workloads/ with a function `workloads()` that
returns its Workload and that of its variants. What runs in the machine is
shell, made by a function of the Size asked for; what comes back is read by
`outcome`, which raises WorkloadFailed unless the work was done.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kloc.base.errors import KlocError, unknown
from kloc.base.paths import PROJECT

WORKLOADS = PROJECT / "workloads"
SOURCES = WORKLOADS / "src"
PERCENTILES = (50, 95, 99)


class WorkloadFailed(KlocError):
    """A workload ran and did not do its work."""


@dataclass(frozen=True)
class Size:
    """How much of a workload is run: factors of its load and measured operations."""

    load: float = 1.0
    measured: float = 1.0

    def loaded(self, count: int) -> int:
        """Return `count` things to load at this size."""
        return max(1, round(count * self.load))

    def operations(self, count: int) -> int:
        """Return `count` operations to measure at this size."""
        return max(1, round(count * self.measured))


FULL = Size()
QUICK = Size(load=0.25, measured=0.25)
LONG = Size(load=1.0, measured=10.0)
LENGTHS = {"quick": QUICK, "long": LONG}
"""By the name of the option that chooses it."""


@dataclass(frozen=True)
class Outcome:
    """What a workload did: operations, and their latency in ns by percentile (None: not told)."""

    operations: int
    latency_ns: Mapping[str, float] | None


@dataclass(frozen=True)
class Workload:
    """A program to measure.

    `setup` and `check` run outside the measured region, `measured` within it;
    each makes a script for `sh -e` from a Size and a seed. `outcome` reads
    what they printed, by script name. `instructions` is about what a run of
    full size executes in all, for the time left.

    `start` runs after `setup`, outside the region too: what it starts waits
    until `measured` lets it go, so that a program's own preparations are not
    measured. `programs` are C files under workloads/src, found built in the
    machine's PATH by their name without `.c`.
    """

    name: str
    summary: str
    packages: tuple[str, ...]
    setup: Callable[[Size, int], str]
    measured: Callable[[Size, int], str]
    check: Callable[[Size, int], str] | None
    outcome: Callable[[Mapping[str, str], Size], Outcome]
    instructions: float = 20e9
    start: Callable[[Size, int], str] | None = None
    programs: tuple[str, ...] = ()


def percentiles(
    histogram: Mapping[tuple[float, float], float], wanted: Sequence[int] = PERCENTILES
) -> dict[str, float]:
    """Return p50, p95 and p99 of a histogram {(from, to): count}, interpolated in its buckets.

    `wanted` are other percentiles to return. WorkloadFailed if nothing was counted.
    """
    import numpy as np

    buckets = sorted(histogram.items())
    reached = np.cumsum([count for _, count in buckets])
    if not len(reached) or reached[-1] == 0:
        raise WorkloadFailed("the workload reported no latencies")
    result = {}
    for percentile in wanted:
        rank = percentile / 100 * reached[-1]
        # The first bucket that reaches it: nothing is interpolated over the gaps between buckets.
        at = int(np.searchsorted(reached, rank))
        (low, high), count = buckets[at]
        before = reached[at] - count
        result[f"p{percentile}"] = float(low + (high - low) * (rank - before) / count)
    return result


@cache
def _registry() -> dict[str, Workload]:
    registry: dict[str, Workload] = {}
    for path in sorted(WORKLOADS.glob("*.py")):
        for workload in _read(path):
            if workload.name in registry:
                raise KlocError(f"{path}: there is a workload {workload.name} already")
            registry[workload.name] = workload
    return registry


def _read(path: Path) -> list[Workload]:
    """Return the workloads of a file; KlocError, with the file and the line, for a mistake in it.

    It is Python, and whoever writes one makes any mistake there is.
    """
    spec = importlib.util.spec_from_file_location(f"kloc_workload_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise KlocError(f"{path} cannot be read as a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Where a dataclass looks its module up.
    try:
        spec.loader.exec_module(module)
        return list(module.workloads())
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        where = f"{path}, line {lines[-1]}" if lines else f"{path}"
        raise KlocError(
            f"{where}: {type(error).__name__}: {error}",
            "mend it: docs/guide.md says what a workload's file has",
        ) from error


def names() -> list[str]:
    """Return the names of the workloads that there are."""
    return sorted(_registry())


def load(name: str) -> Workload:
    """Return the workload of that name; KlocError names the nearest if there is none."""
    if name not in _registry():
        raise unknown("workload", name, names())
    return _registry()[name]
