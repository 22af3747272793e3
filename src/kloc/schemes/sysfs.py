# SPDX-License-Identifier: GPL-2.0
"""Schemes and monitoring attributes as the files of DAMON in sysfs, and back.

Both directions are pure functions: `writes` returns what to write, in order, and `read` takes the
contents of the files. The files are those of Linux 6.12; what later kernels add keeps its default.

DAMON's own tool, damo, has code for this, too, but not as a library: its modules import each other
as top-level modules, end the process on errors, and write at once, so that neither a machine nor a
test can have the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from kloc.base.errors import KlocError
from kloc.schemes.scheme import (
    FILTERS_OF_PHYSICAL_MEMORY,
    OF_PHYSICAL_MEMORY,
    OF_PROCESSES,
    Filter,
    Quota,
    Scheme,
    Watermarks,
)
from kloc.schemes.units import MAX, MAX_FREQUENCY, Frequency, format_time

ADMIN = "/sys/kernel/mm/damon/admin"
KDAMONDS = f"{ADMIN}/kdamonds"

UINT_MAX = (1 << 32) - 1
"""DAMON's greatest number of samples, and its greatest age in aggregation intervals."""

UNUSED_BYTES = 4096
"""The first bytes of an address space, which no process can map (vm.mmap_min_addr)."""

UPDATE_STATS = "update_schemes_stats"
"""The command for `state` that brings the files of statistics up to date."""

Write = tuple[str, str]
"""A path, and what to write to it."""


@dataclass(frozen=True)
class Attributes:
    """How DAMON monitors (DAOS, sections 3.1 and 4): intervals in us, and the number of regions."""

    sampling_us: int = 5_000
    aggregation_us: int = 100_000
    update_us: int = 1_000_000
    min_regions: int = 10
    max_regions: int = 1000

    @property
    def samples(self) -> int:
        """The number of samples of a region in an aggregation interval."""
        return max(1, self.aggregation_us // self.sampling_us)


@dataclass(frozen=True)
class Processes:
    """The target: the address spaces of processes."""

    pids: tuple[int, ...]


@dataclass(frozen=True)
class Physical:
    """The target: ranges of physical memory, each with its first address and the one after it."""

    ranges: tuple[tuple[int, int], ...]


Target = Processes | Physical


@dataclass(frozen=True)
class Stats:
    """What a scheme did: regions and bytes tried and applied, and how often a quota was used up."""

    tried: int = 0
    tried_bytes: int = 0
    applied: int = 0
    applied_bytes: int = 0
    quota_exceeded: int = 0


@dataclass(frozen=True)
class Kdamond:
    """A thread of DAMON: its settings, and what its schemes did.

    `unknown` names settings that a Scheme cannot express, such as filters of later kernels.
    """

    number: int
    pid: int | None
    running: bool
    operations: str
    target: Target
    attributes: Attributes
    schemes: tuple[Scheme, ...] = ()
    stats: tuple[Stats, ...] = ()
    unknown: tuple[str, ...] = field(default=())


Part = tuple[Target, Sequence[Scheme]]
"""What one kdamond does: a target, and the schemes that it runs on it."""


def writes(
    schemes: Sequence[Scheme], attributes: Attributes, target: Target, state: str = "on"
) -> list[Write]:
    """Return the writes that make one kdamond run the schemes on the target, in order.

    All kdamonds must be off. The last write starts this one. Raises KlocError if DAMON cannot do
    what a scheme asks for.
    """
    return [*setting_writes([(target, schemes)], attributes), (f"{KDAMONDS}/0/state", state)]


def setting_writes(parts: Sequence[Part], attributes: Attributes) -> list[Write]:
    """Return the writes that set a kdamond for each of the parts, but do not start it, in order.

    All kdamonds must be off. Raises KlocError like `writes`.
    """
    result = [(f"{KDAMONDS}/nr_kdamonds", str(len(parts)))]
    for number, (target, schemes) in enumerate(parts):
        kdamond = f"{KDAMONDS}/{number}"
        context = f"{kdamond}/contexts/0"
        operations = "vaddr" if isinstance(target, Processes) else "paddr"
        result += [
            (f"{kdamond}/contexts/nr_contexts", "1"),
            (f"{context}/operations", operations),
            *_attribute_writes(f"{context}/monitoring_attrs", attributes),
            *target_writes(target, number),
            *scheme_writes(schemes, attributes, target, number),
        ]
    return result


def numbered(before: Sequence[int], now: Sequence[int]) -> list[int]:
    """Return the processes `now` in the order of targets, if DAMON monitors those of `before`.

    DAMON tells targets apart by their numbers only. A process keeps its number. That of an ended
    one goes to a new process, or to the last one if there is none.
    """
    fresh = [pid for pid in now if pid not in before]
    places = [pid if pid in now else (fresh.pop(0) if fresh else None) for pid in before]
    places += fresh
    while None in places:
        last = places.pop()
        if last is not None:
            places[places.index(None)] = last
    return [pid for pid in places if pid is not None]


def target_writes(target: Target, number: int = 0, before: Sequence[int] = ()) -> list[Write]:
    """Return the writes that set the target of the kdamond `number`.

    `before` are the processes that it monitors. Committed, a process at another one's number would
    have that one's regions, with their ages. A region that no process has replaces them; DAMON
    replaces it after the update interval, as those of any new target.
    """
    folder = f"{KDAMONDS}/{number}/contexts/0/targets"
    if isinstance(target, Processes):
        result = [(f"{folder}/nr_targets", str(len(target.pids)))]
        for place, pid in enumerate(target.pids):
            result.append((f"{folder}/{place}/pid_target", str(pid)))
            if place < len(before) and before[place] != pid:
                regions = f"{folder}/{place}/regions"
                result += [
                    (f"{regions}/nr_regions", "1"),
                    (f"{regions}/0/start", "0"),
                    (f"{regions}/0/end", str(UNUSED_BYTES)),
                ]
        return result
    regions = f"{folder}/0/regions"
    result = [(f"{folder}/nr_targets", "1"), (f"{regions}/nr_regions", str(len(target.ranges)))]
    for place, (start, end) in enumerate(target.ranges):
        result += [
            (f"{regions}/{place}/start", str(start)),
            (f"{regions}/{place}/end", str(end)),
        ]
    return result


def scheme_writes(
    schemes: Sequence[Scheme], attributes: Attributes, target: Target, number: int = 0
) -> list[Write]:
    """Return the writes that set the schemes of the kdamond `number`.

    On a running kdamond they have an effect once `commit` is written to its state. Raises KlocError
    like `writes`.
    """
    folder = f"{KDAMONDS}/{number}/contexts/0/schemes"
    result = [(f"{folder}/nr_schemes", str(len(schemes)))]
    for place, scheme in enumerate(schemes):
        check_effect(scheme, target)
        result += _one_scheme_writes(f"{folder}/{place}", scheme, attributes)
    return result


def check_effect(scheme: Scheme, target: Target) -> None:
    """Raise KlocError if DAMON would silently ignore the action, or a filter, on this target."""
    processes = isinstance(target, Processes)
    if scheme.action not in (OF_PROCESSES if processes else OF_PHYSICAL_MEMORY):
        raise KlocError(
            f"{scheme.action} has no effect on {'processes' if processes else 'physical memory'}",
            "use --physical" if processes else "use --pid PID",
        )
    ignored = [one.kind for one in scheme.filters if one.kind in FILTERS_OF_PHYSICAL_MEMORY]
    if processes and ignored:
        raise KlocError(
            f"filters {', '.join(ignored)} have no effect on processes",
            "use --physical, or leave them out",
        )


def read(files: Mapping[str, str]) -> list[Kdamond]:
    """Return the kdamonds in the contents of DAMON's files, by their paths."""
    count = int(files.get(f"{KDAMONDS}/nr_kdamonds", 0))
    return [_read_kdamond(files, number) for number in range(count)]


def restoring(files: Mapping[str, str]) -> list[Write]:
    """Return the writes that make DAMON's files, all kdamonds off, what they are in `files`.

    Directories are made before the files in them. Files that only the kernel writes are left out.
    """
    settings = {
        path: text
        for path, text in files.items()
        if text
        and not re.search(
            r"/(state|pid|avail_operations|effective_bytes|stats/\w+|tried_regions/.*)$", path
        )
    }
    return sorted(settings.items(), key=lambda setting: _order(setting[0]))


def _read_stats(folder: _Folder) -> Stats:
    names = ("nr_tried", "sz_tried", "nr_applied", "sz_applied", "qt_exceeds")
    return Stats(*(folder.number(name) for name in names))


def _order(path: str) -> list[tuple[int, str]]:
    """Return a key that sorts counts of directories before what is in the directories."""
    *folders, name = path.split("/")
    return [*((1, folder) for folder in folders), (0 if name.startswith("nr_") else 1, name)]


def _attribute_writes(folder: str, attributes: Attributes) -> list[Write]:
    return [
        (f"{folder}/intervals/sample_us", str(attributes.sampling_us)),
        (f"{folder}/intervals/aggr_us", str(attributes.aggregation_us)),
        (f"{folder}/intervals/update_us", str(attributes.update_us)),
        (f"{folder}/nr_regions/min", str(attributes.min_regions)),
        (f"{folder}/nr_regions/max", str(attributes.max_regions)),
    ]


def _one_scheme_writes(folder: str, scheme: Scheme, attributes: Attributes) -> Iterator[Write]:
    pattern = f"{folder}/access_pattern"
    yield f"{folder}/action", scheme.action
    if scheme.node is not None:
        yield f"{folder}/target_nid", str(scheme.node)
    yield f"{pattern}/sz/min", str(scheme.min_size)
    yield f"{pattern}/sz/max", str(scheme.max_size)
    for name, ends in _counts(scheme, attributes).items():
        yield f"{pattern}/{name}/min", str(ends[0])
        yield f"{pattern}/{name}/max", str(ends[1])
    if scheme.quota is not None:
        _check_reset(scheme.quota, attributes)
        yield from _quota_writes(f"{folder}/quotas", scheme.quota)
    if scheme.watermarks is not None:
        yield from _watermark_writes(f"{folder}/watermarks", scheme.watermarks)
    if scheme.filters:
        yield f"{folder}/filters/nr_filters", str(len(scheme.filters))
        for number, one in enumerate(scheme.filters):
            yield from _filter_writes(f"{folder}/filters/{number}", one)


def _counts(scheme: Scheme, attributes: Attributes) -> dict[str, tuple[int, int]]:
    """Return the limits of frequency in samples, and of age in aggregation intervals.

    Limits are rounded to the inside. Raises KlocError if nothing is left between them.
    """
    ages = (Fraction(age, attributes.aggregation_us) for age in (scheme.min_age, scheme.max_age))
    frequencies = (scheme.min_frequency, scheme.max_frequency)
    rates = (
        Fraction(MAX) if one == MAX_FREQUENCY else one.samples(attributes.samples)
        for one in frequencies
    )
    counts = {"nr_accesses": _inside(*rates), "age": _inside(*ages)}
    for name, (low, high) in counts.items():
        if low > high:
            what = "age in aggregation intervals" if name == "age" else "frequency in samples"
            raise KlocError(
                f"no {what} is between the scheme's limits, {low} and {high}",
                f"an aggregation interval has {attributes.samples} samples "
                f"and takes {attributes.aggregation_us / 1000:g} ms: widen the limits",
            )
    return counts


def _inside(low: Fraction, high: Fraction) -> tuple[int, int]:
    return min(UINT_MAX, -(-low.numerator // low.denominator)), min(UINT_MAX, int(high))


def _check_reset(quota: Quota, attributes: Attributes) -> None:
    """Raise KlocError if a quota is used up at a lower rate than it says.

    DAMON begins a new reset interval only when it acts, once in an aggregation interval. A reset
    interval that was divided by a machine's scale is rounded to a millisecond.
    """
    reset_us = quota.reset_ms * 1000
    if reset_us + 1000 <= attributes.aggregation_us:
        reset, aggregation = format_time(reset_us), format_time(attributes.aggregation_us)
        raise KlocError(
            f"the quota's reset={reset} is shorter than an aggregation interval ({aggregation}): "
            "DAMON acts once in an aggregation interval, and would do less than the quota says",
            f"write reset={aggregation} or more, with the limits for that time, or lower "
            "--aggregation",
        )


def _quota_writes(folder: str, quota: Quota) -> Iterator[Write]:
    yield f"{folder}/ms", str(quota.time_ms)
    yield f"{folder}/bytes", str(quota.size)
    yield f"{folder}/reset_interval_ms", str(quota.reset_ms)
    for name, weight in zip(("sz", "nr_accesses", "age"), quota.weights, strict=True):
        yield f"{folder}/weights/{name}_permil", str(weight)


def _watermark_writes(folder: str, marks: Watermarks) -> Iterator[Write]:
    for name in ("metric", "interval_us", "high", "mid", "low"):
        yield f"{folder}/{name}", str(getattr(marks, name))


def _filter_writes(folder: str, one: Filter) -> Iterator[Write]:
    yield f"{folder}/type", one.kind
    yield f"{folder}/matching", "Y" if one.matching else "N"
    if isinstance(one.value, tuple):
        yield f"{folder}/addr_start", str(one.value[0])
        yield f"{folder}/addr_end", str(one.value[1])
    elif one.value is not None:
        name = "memcg_path" if one.kind == "memcg" else "damon_target_idx"
        yield f"{folder}/{name}", str(one.value)


@dataclass(frozen=True)
class _Folder:
    """A folder of DAMON's files."""

    files: Mapping[str, str]
    path: str

    def text(self, name: str, default: str = "") -> str:
        return self.files.get(f"{self.path}/{name}", default)

    def number(self, name: str) -> int:
        return int(self.text(name) or 0)

    def inner(self, name: str) -> _Folder:
        return _Folder(self.files, f"{self.path}/{name}")

    def numbered(self, name: str, count: str) -> list[_Folder]:
        """Return the folders 0, 1, ... in folder `name`, whose file `count` has their number."""
        folder = self.inner(name)
        return [folder.inner(str(number)) for number in range(folder.number(count))]


def _read_kdamond(files: Mapping[str, str], number: int) -> Kdamond:
    folder = _Folder(files, f"{KDAMONDS}/{number}")
    context = folder.inner("contexts/0")
    pid = folder.number("pid")
    attributes = _read_attributes(context.inner("monitoring_attrs"))
    unknown: list[str] = []
    folders = context.numbered("schemes", "nr_schemes")
    return Kdamond(
        number=number,
        pid=pid if pid > 0 else None,
        running=folder.text("state") == "on",
        operations=context.text("operations"),
        target=_read_target(context),
        attributes=attributes,
        schemes=tuple(_read_scheme(one, attributes, unknown) for one in folders),
        stats=tuple(_read_stats(one.inner("stats")) for one in folders),
        unknown=tuple(unknown),
    )


def _read_attributes(folder: _Folder) -> Attributes:
    return Attributes(
        folder.number("intervals/sample_us"),
        folder.number("intervals/aggr_us"),
        folder.number("intervals/update_us"),
        folder.number("nr_regions/min"),
        folder.number("nr_regions/max"),
    )


def _read_target(context: _Folder) -> Target:
    targets = context.numbered("targets", "nr_targets")
    if context.text("operations") != "paddr":
        return Processes(tuple(one.number("pid_target") for one in targets))
    regions = [region for one in targets for region in one.numbered("regions", "nr_regions")]
    return Physical(tuple((one.number("start"), one.number("end")) for one in regions))


def _read_scheme(folder: _Folder, attributes: Attributes, unknown: list[str]) -> Scheme:
    pattern = folder.inner("access_pattern")
    samples = [_read_samples(pattern.number(f"nr_accesses/{end}")) for end in ("min", "max")]
    ages = [_read_age(pattern.number(f"age/{end}"), attributes) for end in ("min", "max")]
    node = folder.text("target_nid", "-1")
    return Scheme(
        min_size=pattern.number("sz/min"),
        max_size=pattern.number("sz/max"),
        min_frequency=samples[0],
        max_frequency=samples[1],
        min_age=ages[0],
        max_age=ages[1],
        action=folder.text("action"),
        node=None if node == "-1" else int(node),
        quota=_read_quota(folder.inner("quotas")),
        watermarks=_read_watermarks(folder.inner("watermarks")),
        filters=tuple(_read_filters(folder, unknown)),
    )


def _read_samples(number: int) -> Frequency:
    return MAX_FREQUENCY if number == UINT_MAX else Frequency(Fraction(number))


def _read_age(number: int, attributes: Attributes) -> int:
    return MAX if number == UINT_MAX else number * attributes.aggregation_us


def _read_quota(folder: _Folder) -> Quota | None:
    weights = tuple(
        folder.number(f"weights/{name}_permil") for name in ("sz", "nr_accesses", "age")
    )
    quota = Quota(
        folder.number("ms"),
        folder.number("bytes"),
        folder.number("reset_interval_ms"),
        (weights[0], weights[1], weights[2]),
    )
    return quota if quota.time_ms or quota.size else None


def _read_watermarks(folder: _Folder) -> Watermarks | None:
    metric = folder.text("metric", "none")
    if metric == "none":
        return None
    marks = (folder.number(name) for name in ("interval_us", "high", "mid", "low"))
    return Watermarks(metric, *marks)


def _read_filters(folder: _Folder, unknown: list[str]) -> Iterator[Filter]:
    """Yield the filters of a scheme; name in `unknown` those that only later kernels have."""
    for name in ("filters", "core_filters", "ops_filters"):
        for one in folder.numbered(name, "nr_filters"):
            kind, matching = one.text("type"), one.text("matching") == "Y"
            values: dict[str, str | tuple[int, int] | int | None] = {
                "anon": None,
                "young": None,
                "memcg": one.text("memcg_path"),
                "addr": (one.number("addr_start"), one.number("addr_end")),
                "target": one.number("damon_target_idx"),
            }
            if kind not in values or one.text("allow", "N") == "Y":
                allow = "allow" if one.text("allow", "N") == "Y" else "reject"
                unknown.append(f"filter {allow} {'' if matching else 'not '}{kind}")
            else:
                yield Filter(kind, matching, values[kind])
