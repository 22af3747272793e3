# SPDX-License-Identifier: GPL-2.0
"""Workloads: real programs, with scripts that load, measure and check them.

A workload's file is workloads/NAME.py of kloc, or of the user's configuration, or is given by its
path. It has a function `workloads()` that returns instances of Workload: the workload, and its
variants. Their functions make the shell scripts that run in the machine, for a Size and a seed.
`outcome` reads the output of the scripts, and raises WorkloadFailed unless the work was done.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import traceback
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate
from pathlib import Path

from kloc.base import paths
from kloc.base.errors import KlocError, unknown

WORKLOADS = paths.shipped("workloads")
"""The workloads that come with kloc."""

SOURCES = WORKLOADS / "src"
SUFFIX = ".py"
FUNCTION = re.compile(r"^def workloads\(", re.M)
"""What tells a file of workloads from other programs, which are not to be executed here."""

PERCENTILES = (50, 95, 99)
TIME = re.compile(r"^time (\d+) (\d+) (\d+)$", re.M)
TIMES = re.compile(r"^times (\S+)$", re.M)

REGION = 0.5
"""The measured region of a full-size run, in seconds of the machine's time under all-fast."""

SLICES = 8
"""So many slices of a warm-up are as long as the region."""

SLICES_MAX = 3 * SLICES // 2
"""The most slices of a warm-up of the workloads here: at most 1.5 times the region."""

WARM_SEED = 1000
"""Added to the seed of the warm-up, whose operations are of the same kind, but others."""


NOT_TRIED = "nobody has tried it there"


class WorkloadFailed(KlocError):
    """A workload ran, but did not do its work."""


@dataclass(frozen=True)
class Size:
    """The size of a run: a factor of the loaded data, and the length of the measured region.

    `seconds` is how long the region takes on machine tiered under all-fast, in the machine's time.
    """

    load: float = 1.0
    seconds: float = REGION

    def loaded(self, count: int) -> int:
        """Return how many things to load if a full-size run loads `count`."""
        return max(1, round(count * self.load))

    def operations(self, count: int) -> int:
        """Return how many operations to measure if a full-size run measures `count`."""
        return max(1, round(count * self.seconds / REGION))

    def operations_at(self, rate: float) -> int:
        """Return how many operations to measure if all-fast does `rate` of them in a second."""
        return max(1, round(rate * self.seconds))

    def slice(self) -> Size:
        """Return the size of a slice of the warm-up: SLICES of them are as long as the region."""
        return replace(self, seconds=self.seconds / SLICES)


FULL = Size()
QUICK = Size(load=0.25, seconds=REGION / 4)
LONG = Size(seconds=4 * REGION)
LENGTHS = {"quick": QUICK, "long": LONG}
"""Sizes by the name of their option."""


@dataclass(frozen=True)
class Outcome:
    """Completed operations, and their latency in ns by percentile, None if it is unknown.

    `figures` are others that only this workload has, by the name that tables show. `notes` say what
    to know about them.
    """

    operations: int
    latency_ns: Mapping[str, float] | None
    figures: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workload:
    """A program to measure.

    `setup`, `warm_up`, `start`, `measured` and `check` return scripts for `sh -e`, which run in
    this order. Only `measured` is in the measured region. `start` starts programs that prepare
    themselves and then wait for `measured`, so that their preparation is not measured.

    `outcome` gets the output of the scripts by name ("setup", "measured", "check").

    `warm_up` returns a script that does one slice of the warm-up: operations of the same kind as
    `measured` does, with another seed. The script gets the number of the slice, from 1 on, as $1.
    At most `slices_max` slices run, and at least half as many; it ends when the machine has
    settled (machine/guest/settled.awk), which eight slices show. Without `warm_up`, `start` and
    `measured` run once, with another seed. `repeatable` says whether the region and the check
    still succeed after that. If it is None, nobody knows: kloc tries it, and measures once more
    without a warm-up if the run fails.

    `prepare` returns a script that fills /data, for what takes long to load and is the same under
    each policy, such as a database. It runs once, in a machine of its own under policy stock; the
    disk is kept in the cache. Each run begins with it, and with nothing of it in memory.

    `instructions` is about how many instructions a full-size run executes in total, for estimates
    of the time left. `programs` are C files in the directory src beside the workload's file; the
    machine has each program in its PATH, without the suffix `.c`.

    `spread` is by which fraction the ratio of two policies' throughputs with one seed may differ
    from the mean of many seeds: 0.08 for 8 %. None if nobody has measured it.

    `not_native` says why the workload cannot be measured on a server itself (`kloc compare
    --native`); "" if it can: its scripts change only /data, /run and /tmp.
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
    warm_up: Callable[[Size, int], str] | None = None
    slices_max: int = 1
    repeatable: bool | None = None
    prepare: Callable[[Size, int], str] | None = None
    spread: float | None = None
    not_native: str = NOT_TRIED

    def slices(self, size: Size, seed: int) -> str | None:
        """Return the script of a slice of the warm-up, None if there can be no warm-up."""
        if self.warm_up:
            return self.warm_up(size, seed)
        if self.repeatable is False:
            return None
        # Other seeds than the region's, which begin with 1.
        measured = self.measured(size, seed + WARM_SEED)
        if not self.start:
            return measured
        # In shells of their own, as around the region: each waits for its own processes only.
        scripts = (self.start(size, seed + WARM_SEED), measured)
        return "".join(f"sh -e -c {shlex.quote(script)}\n" for script in scripts)

    @property
    def warm_up_is_a_guess(self) -> bool:
        """Whether nobody has said that `measured` can be repeated, which the warm-up does."""
        return self.warm_up is None and self.repeatable is None


def histogram(text: str) -> dict[tuple[float, float], int]:
    """Return the histogram, for percentiles(), of the lines "time FROM TO COUNT" in a text.

    The project's own programs print the latencies of their operations so, in ns.
    """
    found: dict[tuple[float, float], int] = {}
    for low, high, count in TIME.findall(text):
        bucket = (float(low), float(high))
        found[bucket] = found.get(bucket, 0) + int(count)
    return found


def histograms(text: str) -> dict[str, dict[tuple[float, float], int]]:
    """Return the histograms in a text that has a line "times KIND" before each, by kind."""
    _, *parts = TIMES.split(text)
    return {kind: histogram(times) for kind, times in zip(parts[::2], parts[1::2], strict=True)}


def percentiles(
    histogram: Mapping[tuple[float, float], float], wanted: Sequence[int] = PERCENTILES
) -> dict[str, float]:
    """Return the `wanted` percentiles of a histogram {(from, to): count}: {"p50": 12.5, ...}.

    They are interpolated within buckets. Raises WorkloadFailed if the histogram is empty.
    """
    buckets = sorted(histogram.items())
    reached = list(accumulate(count for _, count in buckets))
    if not reached or reached[-1] == 0:
        raise WorkloadFailed("the workload reported no latencies")
    result = {}
    for percentile in wanted:
        rank = percentile / 100 * reached[-1]
        # Interpolate within the first bucket that reaches the rank, not over gaps between buckets.
        at = bisect_left(reached, rank)
        (low, high), count = buckets[at]
        before = reached[at] - count
        result[f"p{percentile}"] = float(low + (high - low) * (rank - before) / count)
    return result


@cache
def registry() -> dict[str, Workload]:
    """Return all workloads by name. Raises KlocError if a workload file has an error."""
    workloads: dict[str, Workload] = {}
    files = paths.found("workloads", SUFFIX, WORKLOADS)
    for _, path in sorted(files.items()):
        _add(workloads, path)
    return workloads


def _add(workloads: dict[str, Workload], path: Path) -> list[Workload]:
    """Add the workloads of a file to `workloads`; return them.

    Raises KlocError if the file has an error, or a workload of another one's name.
    """
    added = _read(path)
    for workload in added:
        if workload.name in workloads:
            raise KlocError(
                f"{path}: there is another workload named {workload.name}", "rename one of them"
            )
        workloads[workload.name] = workload
    return added


def _read(path: Path) -> list[Workload]:
    """Execute a workload file and return its workloads.

    Raises KlocError, with the file and the line, for any error in the file.
    """
    spec = importlib.util.spec_from_file_location(f"kloc_workload_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise KlocError(f"{path} cannot be read as a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Dataclasses look up their module here.
    try:
        spec.loader.exec_module(module)
        return [_with_sources(workload, path) for workload in module.workloads()]
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        where = f"{path}, line {lines[-1]}" if lines else f"{path}"
        raise KlocError(
            f"{where}: {type(error).__name__}: {error}",
            'fix the file; docs/guide.md ("Add a workload") describes its content',
        ) from error


def _with_sources(workload: Workload, path: Path) -> Workload:
    """Return a workload whose programs are those beside its file, which need not be in SOURCES."""
    sources = path.absolute().parent / "src"
    if sources == SOURCES:
        return workload
    return replace(workload, programs=tuple(str(sources / name) for name in workload.programs))


def names() -> list[str]:
    """Return the names of all workloads. Raises KlocError if a workload file has an error."""
    return sorted(registry())


def load(name: str) -> Workload:
    """Return the workload `name`, or that of the file `name` if that is a path.

    A file of several workloads is followed by the name of one: mine.py:NAME. Raises KlocError, with
    the nearest name, if there is none.
    """
    path, _, chosen = name.partition(":")
    if path.endswith(SUFFIX):
        return _load_file(Path(path), chosen)
    if name not in registry():
        raise unknown("workload", name, names())
    return registry()[name]


def is_file(name: str) -> bool:
    """Return whether `name` is the path of a file of workloads, and not of another program."""
    path = Path(name.partition(":")[0])
    if path.suffix != SUFFIX or not path.is_file():
        return False
    return FUNCTION.search(path.read_text(encoding="utf-8", errors="replace")) is not None


def _load_file(path: Path, chosen: str) -> Workload:
    """Return the workload `chosen` of a file, or the only one that it has, and make all known."""
    if not path.is_file():
        raise KlocError(f"{path} does not exist", "name a workload, or a file that exists")
    if not is_file(str(path)):
        raise KlocError(
            f"{path} is no file of workloads: it has no function workloads()",
            'docs/guide.md ("Add a workload") describes its content',
        )
    added = {one.name: one for one in _of_file(path.resolve())}
    if chosen:
        if chosen not in added:
            raise unknown(f"workload of {path}:", chosen, added)
        return added[chosen]
    if len(added) != 1:
        raise KlocError(
            f"{path} has {len(added)} workloads, and one is to be chosen",
            f"name it: {', '.join(f'{path}:{name}' for name in added)}",
        )
    return next(iter(added.values()))


@cache
def _of_file(path: Path) -> Sequence[Workload]:
    """Return the workloads of a file that is given by its path, and add them to the registry."""
    if path in {known.resolve() for known in paths.found("workloads", SUFFIX, WORKLOADS).values()}:
        return _read(path)
    return _add(registry(), path)
