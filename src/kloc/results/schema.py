# SPDX-License-Identifier: GPL-2.0
"""The structure of result files, and errors that name the value that does not match it.

docs/results.md describes the files. The types below have only the keys that tables and reports
read; other keys are not checked, and later versions of kloc may add some.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from kloc.base import words
from kloc.base.errors import KlocError

SCHEMA = 2
"""The version of the files' structure that this kloc writes and reads."""

HINT = "a command such as kloc compare or kloc run writes result files, with --json FILE"

# A float in these types stands for any JSON number. Sums may be nested or null.
Sums = dict[str, float | dict[str, float | None] | None]


class Machine(TypedDict):
    """A run's machine after its variations."""

    name: str
    fast_bytes: float
    slow_bytes: float
    variant: NotRequired[str | None]


class Placement(TypedDict):
    """The page kinds that `kloc what-if` times as fast in a run."""

    fast: list[str]


class Series(TypedDict):
    """A run's time series."""

    t_ns: NotRequired[list[float]]
    pages_fast: NotRequired[dict[str, list[float]]]
    pages_slow: NotRequired[dict[str, list[float]]]
    promoted: NotRequired[list[float]]
    demoted: NotRequired[list[float]]
    moved: NotRequired[dict[str, dict[str, list[float]]]]


class BoundSeries(TypedDict):
    """The time series of the budgets of a policy with a bound."""

    t_ns: list[float]
    budget_ns: list[float]
    cost_ns: list[float]


class Bound(TypedDict):
    """The slowdown that a policy keeps, and its budgets."""

    percent: float
    fault_ns: float
    counted: float
    came_back_bytes: float
    series: BoundSeries


class Slice(TypedDict):
    """A slice of the warm-up."""

    time_ns: float
    moved_pages: float


class WarmUp(TypedDict):
    """What ran before the measured region, under the same policy."""

    seconds: float
    slices: list[Slice]
    settled: bool
    series: NotRequired[Series | None]


class Daemon(TypedDict):
    """The program in user space that was the policy."""

    start: str
    time_ns: float
    on_workload_cores: bool
    packages: NotRequired[dict[str, str]]


class Run(TypedDict):
    """One run. Keys that a report can do without are not required."""

    workload: str
    policy: str
    machine: Machine
    seed: float
    cores: float
    operations: float
    seconds: float
    throughput: float
    notes: list[str]
    size: NotRequired[dict[str, float]]
    cold: NotRequired[bool]
    settings: NotRequired[dict[str, Any]]
    parameters: NotRequired[list[str]]
    placement: NotRequired[Placement]
    figures: NotRequired[dict[str, float]]
    latency_ns: NotRequired[dict[str, float | None] | None]
    stall_ns: NotRequired[dict[str, Sums]]
    idle_ns: NotRequired[float]
    storage_wait_ns: NotRequired[float]
    background: NotRequired[dict[str, dict[str, float]]]
    warm_up: NotRequired[WarmUp | None]
    by_core: NotRequired[list[dict[str, float]]]
    remote_misses: NotRequired[float]
    oracle: NotRequired[dict[str, float]]
    migrated_pages: NotRequired[dict[str, Sums]]
    moved_by: NotRequired[dict[str, dict[str, float]]]
    tiering: NotRequired[dict[str, dict[str, float]]]
    hint_faults: NotRequired[float]
    promotion_ns: NotRequired[dict[str, float]]
    series: NotRequired[Series | None]
    inputs: NotRequired[dict[str, str]]
    memory: NotRequired[dict[str, float]]
    bound: NotRequired[Bound]
    pages: NotRequired[dict[str, dict[str, float]]]
    misses: NotRequired[dict[str, Sums]]
    slabs: NotRequired[dict[str, Sums]]
    scheme: NotRequired[dict[str, Any]]
    daemon: NotRequired[Daemon]
    spread: NotRequired[float | None]
    round: NotRequired[float]
    cpu_ns: NotRequired[dict[str, float]]
    memory_bytes: NotRequired[dict[str, dict[str, dict[str, float]]]]
    kloc: NotRequired[str]


class Against(TypedDict):
    """The comparisons of policies with a baseline, seed by seed."""

    baseline: str


class Tier(TypedDict, total=False):
    """A memory tier of a machine profile."""

    capacity: float
    unit: float
    read_latency_ns: float
    read_bandwidth: float
    write_bandwidth: float


class Cpu(TypedDict, total=False):
    """The cores of a machine profile."""

    ns_per_instruction: float
    llc_latency_ns: float
    outstanding: float
    window: float
    l1: float
    l1_ways: float
    llc: float
    llc_ways: float


class Storage(TypedDict, total=False):
    """The storage of a machine profile."""

    read_latency_us: float
    write_latency_us: float
    read_bandwidth: float
    write_bandwidth: float


class Remote(TypedDict, total=False):
    """The link between the sockets of a machine profile."""

    latency_ns: float
    bandwidth: float


class Profile(TypedDict):
    """The machine profile, without variations."""

    name: str
    summary: NotRequired[str]
    scale: NotRequired[float]
    cores: NotRequired[float]
    spare_cores: NotRequired[float]
    fast: NotRequired[Tier]
    slow: NotRequired[Tier]
    cpu: NotRequired[Cpu]
    storage: NotRequired[Storage]
    sockets: NotRequired[float]
    remote: NotRequired[Remote]


class NativeNode(TypedDict):
    """A node of memory of a server."""

    tier: str | None
    bytes: float
    cpus: str
    latency_ns: NotRequired[float]
    bandwidth: NotRequired[float]


class Native(TypedDict):
    """The server of a native comparison."""

    host: str
    cpu: str
    cpus: float
    nodes: dict[str, NativeNode]
    left_out: NotRequired[dict[str, str]]


class RunsDocument(TypedDict):
    """A result file of `kloc compare`, `kloc run` or `kloc what-if`."""

    kernel: dict[str, Any]
    versions: dict[str, Any]
    machine: Profile
    runs: list[Run]
    against: NotRequired[Against]
    native: NotRequired[Native]


class KindUse(TypedDict, total=False):
    """The use of the pages of one kind."""

    pages_allocated: float | None
    references: float | None
    misses: float | None
    lifetime_ns: dict[str, float | None] | None
    interval_ns: dict[str, float | None] | None


class ObjectDocument(TypedDict):
    """A result file of `kloc objects`."""

    workload: str
    kernel: dict[str, Any]
    versions: dict[str, Any]
    machine: Profile
    inputs: dict[str, dict[str, KindUse] | None]
    seed: NotRequired[float]
    variant: NotRequired[str]
    kloc: NotRequired[str]


def validate(path: Path, content: Any) -> None:
    """Raise KlocError unless `content`, read from `path`, is runs or what `kloc objects` writes.

    The schema number is checked first, because another schema may have another structure.
    """
    if not isinstance(content, Mapping) or "schema" not in content:
        raise KlocError(f"{path} is not a result file of kloc: it has no schema number", HINT)
    if not isinstance(content["schema"], int):
        raise KlocError(
            f"{path}: schema: expected a number, and it is {json.dumps(content['schema'])}", HINT
        )
    if content["schema"] != SCHEMA:
        raise KlocError(
            f"{path} has schema {content['schema']}; this kloc reads schema {SCHEMA}",
            "read it with the version of kloc that wrote it",
        )
    if "kernels" in content:
        raise KlocError(f"{path} is a result of kloc bench, which cannot be shown again")
    key, document = ("inputs", ObjectDocument) if "inputs" in content else ("runs", RunsDocument)
    _check(path, content, document)
    if not content[key]:
        raise KlocError(f"{path}: {key}: expected at least one", HINT)
    if key == "runs":
        _check_figures(path, content["runs"])


def _check(path: Path, content: Mapping[str, Any], document: Any) -> None:
    # The commands for servers import this module in environments without msgspec.
    import msgspec

    try:
        msgspec.convert(content, document)
    except msgspec.ValidationError as error:
        where, problem = _explain(str(error))
        raise KlocError(f"{path}: {where}: {problem}", HINT) from error


def _check_figures(path: Path, runs: Sequence[Run]) -> None:
    """Raise KlocError if figures that others are divided by, or that are drawn, are impossible."""
    for number, run in enumerate(runs):
        figures = {"seconds": run["seconds"], "cores": run["cores"]}
        may_be_zero = {"throughput": run["throughput"], "operations": run["operations"]}
        for key, value in {**figures, **may_be_zero}.items():
            if not (math.isfinite(value) and (value > 0 or (value == 0 and key in may_be_zero))):
                low = "of 0 or more" if key in may_be_zero else "above 0"
                raise KlocError(f"{path}: runs[{number}].{key}: expected a number {low}", HINT)


_MISSING = re.compile(r"Object missing required field `(.*)`")


def _explain(message: str) -> tuple[str, str]:
    """Return the place in the file and the problem that an error of msgspec names."""
    problem, where = words.validation_problem(message)
    if missing := _MISSING.fullmatch(problem):
        return ".".join(filter(None, (where, missing[1]))), "missing"
    if expected := words.expected_types(problem, {"object": "an object"}):
        problem = f"expected {expected}"
    # msgspec does not name the keys of a mapping.
    return where.replace("[...]", ".*"), problem
