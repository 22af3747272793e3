# SPDX-License-Identifier: GPL-2.0
"""The tables [scheme] and [swap] of a policy: a scheme that DAMON runs, and what it reclaims to.

    [scheme]                  # DAMON runs while the workload loads, warms up and is measured
    name = "prcl"             # a scheme of schemes/; without a name, DAMON only monitors
    target = "processes"      # the memory of the workload's processes, or "physical": all memory
    sampling = "5ms"          # optional, as are the next three: the DAOS paper's values
    aggregation = "100ms"
    update = "1s"
    regions = [10, 1000]
    divided = true            # optional: divide times and regions by the machine's scale
    [scheme.for.redis]        # optional: the scheme's threshold for one workload,
    value = "3.4s"            # found by kloc tune; "none": no scheme is better, and DAMON is off
    seed = 101                # on this seed

    [swap]
    kind = "zram"             # compressed memory; or "file": a file on the disk /data
    size = "512 MiB"          # optional: as much as the machine has memory

Errors name the file and the key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kloc.base.errors import KlocError, unknown
from kloc.base.sizes import parse_size
from kloc.machine import toml_file
from kloc.machine.job import Damon, Swap
from kloc.machine.profile import Profile
from kloc.schemes import nodes, scaled, scheme, sysfs, text, units
from kloc.schemes.nodes import Nodes
from kloc.schemes.scheme import Scheme, Value
from kloc.schemes.sysfs import Attributes, Physical, Processes, Target

PROCESSES, PHYSICAL = "processes", "physical"
TARGETS: Mapping[str, Target] = {PROCESSES: Processes(()), PHYSICAL: Physical(())}
"""The targets, which only the machine knows: pids, and ranges of addresses."""

KINDS = ("zram", "file")
"""What swap may be on."""

DEFAULTS = Attributes()


class TunedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [scheme.for.WORKLOAD]."""

    value: str
    seed: int


class SchemeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"tuned": "for"}):
    """The table [scheme]."""

    target: str
    name: str | None = None
    sampling: str = units.format_time(DEFAULTS.sampling_us)
    aggregation: str = units.format_time(DEFAULTS.aggregation_us)
    update: str = units.format_time(DEFAULTS.update_us)
    regions: tuple[int, int] = (DEFAULTS.min_regions, DEFAULTS.max_regions)
    divided: bool = True
    tuned: dict[str, Any] = {}


class SwapTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [swap]."""

    kind: str
    size: str | None = None


@dataclass(frozen=True)
class Tuned:
    """A scheme's threshold for one workload, and the seed on which it was found.

    The value is None if the workload is better without the scheme.
    """

    value: float | None
    seed: int


@dataclass(frozen=True)
class SchemeUse:
    """What a policy lets DAMON do; times and ages are those of the full-size machine."""

    target: str
    name: str | None = None
    schemes: tuple[Scheme, ...] = ()
    attributes: Attributes = DEFAULTS
    divided: bool = True
    tuned: Mapping[str, Tuned] = field(default_factory=dict)

    def runs_for(self, workload: str) -> bool:
        """Return whether DAMON runs for a workload: not if it is better without the scheme."""
        tuned = self.tuned.get(workload)
        return tuned is None or tuned.value is not None

    def chosen(self, workload: str) -> list[Scheme]:
        """Return the schemes for a workload, with its threshold if one was found."""
        tuned = self.tuned.get(workload)
        if tuned is None:
            return list(self.schemes)
        return [] if tuned.value is None else scheme.at(self.schemes, tuned.value)

    def at(self, value: float) -> SchemeUse:
        """Return this with `value` as the scheme's threshold, in the threshold's unit."""
        return replace(self, schemes=tuple(scheme.at(self.schemes, value)), tuned={})

    def damon(self, workload: str, profile: Profile) -> Damon | None:
        """Return what the machine's agent does for a workload, None if DAMON is off."""
        if not self.runs_for(workload):
            return None
        attributes, schemes = self.attributes, self.chosen(workload)
        if self.divided:
            attributes = scaled.attributes(self.attributes, profile.scale)
            schemes = scaled.schemes(schemes, self.attributes, attributes)
        placed = self._placed(schemes, profile)
        # The agent sets the targets, and starts DAMON.
        writes = sysfs.setting_writes(
            [(TARGETS[self.target], ran) for _, ran in placed], attributes
        )
        monitored = tuple(node for node, _ in placed)
        return Damon(tuple(writes), self.target, attributes.update_us, monitored)

    def as_dict(self, workload: str, profile: Profile) -> dict[str, Any]:
        """Return what results say of it, with the values of the full-size machine.

        Schemes are in the order of the kdamonds that run them, as their statistics are.
        """
        placed = self._placed(self.chosen(workload), profile)
        return {
            "name": self.name,
            "target": self.target,
            "schemes": [text.format_scheme(one) for _, ran in placed for one in ran],
            "divided": self.divided,
        }

    def _placed(
        self, schemes: Sequence[Scheme], profile: Profile
    ) -> list[tuple[int | None, list[Scheme]]]:
        """Return the schemes of each node that a kdamond monitors, None for the whole target."""
        return nodes.placed(schemes, nodes_of(profile))


@dataclass(frozen=True)
class SwapUse:
    """Where a policy swaps to, and how much; None: as much as the machine has memory."""

    kind: str
    size: int | None = None

    def swap(self, profile: Profile) -> Swap:
        """Return the swap of a machine."""
        return Swap(self.kind, self.size or profile.fast.capacity + profile.slow.capacity)


def nodes_of(profile: Profile) -> Nodes:
    """Return the nodes of a machine: each socket has one of fast and one of slow memory."""
    sockets = range(profile.sockets)
    everything = range(2 * profile.sockets)
    distances = {
        (one, other): abs(one % profile.sockets - other % profile.sockets)
        for one in everything
        for other in everything
    }
    return Nodes({"fast": sockets, "slow": everything[profile.sockets :]}, distances)


def read_scheme(table: SchemeTable, file: Path, hint: str) -> SchemeUse:
    """Return what the table [scheme] of `file` asks for. Raises KlocError if it cannot be done."""
    if table.target not in TARGETS:
        raise _unknown(file, "target in [scheme]", table.target, TARGETS)
    use = SchemeUse(
        table.target,
        table.name,
        tuple(_schemes(table, file)),
        _attributes(table, file, hint),
        table.divided,
    )
    try:
        check(use)
    except KlocError as error:
        other = PHYSICAL if use.target == PROCESSES else PROCESSES
        raise KlocError(
            f"{file}: scheme {table.name}: {error.message}",
            f'set target = "{other}", or choose another scheme',
        ) from error
    return replace(use, tuned=_tuned(table, use.schemes, file, hint))


def check(use: SchemeUse) -> None:
    """Raise KlocError if DAMON would silently ignore a scheme on its target."""
    for one in use.schemes:
        sysfs.check_effect(one, TARGETS[use.target])


def read_swap(table: SwapTable, file: Path) -> SwapUse:
    """Return what the table [swap] of `file` asks for. Raises KlocError if it cannot be done."""
    if table.kind not in KINDS:
        raise _unknown(file, "kind in [swap]", table.kind, KINDS)
    if table.size is None:
        return SwapUse(table.kind)
    return SwapUse(table.kind, parse_size(table.size, f"{file}: swap.size"))


def _schemes(table: SchemeTable, file: Path) -> list[Scheme]:
    if table.name is None:
        return []
    if table.name not in text.names():
        raise _unknown(file, "name in [scheme]: scheme", table.name, text.names())
    return text.load(table.name)


def _attributes(table: SchemeTable, file: Path, hint: str) -> Attributes:
    sampling, aggregation, update = (
        _parsed(units.parse_time, getattr(table, key), file, f"scheme.{key}", hint)
        for key in ("sampling", "aggregation", "update")
    )
    if not 0 < sampling <= aggregation or not update:
        raise KlocError(
            f"{file}: scheme.sampling is above scheme.aggregation, or a time is 0",
            "an aggregation interval has some samples, such as 20",
        )
    if not 3 <= table.regions[0] <= table.regions[1]:
        raise KlocError(
            f"{file}: scheme.regions is {list(table.regions)}",
            "write the fewest and the most regions, 3 or more, such as [10, 1000]",
        )
    return Attributes(sampling, aggregation, update, *table.regions)


def _tuned(
    table: SchemeTable, schemes: tuple[Scheme, ...], file: Path, hint: str
) -> dict[str, Tuned]:
    marked = scheme.tuned_scheme(schemes)
    if table.tuned and (marked is None or marked.tuned is None):
        raise KlocError(
            f"{file}: [scheme.for] has values, but scheme {table.name} marks no threshold to tune",
            "add a range to one threshold of the scheme, such as 5s{1s..60s}",
        )
    found = {}
    for workload, content in table.tuned.items():
        assert marked is not None and marked.tuned is not None
        key = f"scheme.for.{workload}"
        one = toml_file.convert(content, TunedTable, file, hint, key)
        found[workload] = Tuned(None, one.seed)
        if one.value != scheme.NONE:
            parser: Callable[[str], Value] = text.parser(marked.tuned.threshold)
            value = _parsed(parser, one.value, file, f"{key}.value", hint)
            found[workload] = Tuned(scheme.number(value), one.seed)
    return found


def _parsed(parser: Callable[[str], Any], word: str, file: Path, key: str, hint: str) -> Any:
    try:
        return parser(word)
    except ValueError as error:
        raise KlocError(f"{file}: {key} is {word!r}, and must be {error}", hint) from error


def _unknown(file: Path, what: str, name: str, known: Any) -> KlocError:
    error = unknown(what, name, known)
    return KlocError(f"{file}: {error.message}", error.hint)
