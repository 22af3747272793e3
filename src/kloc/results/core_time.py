# SPDX-License-Identifier: GPL-2.0
"""Where the time of the cores went: user and kernel mode, stalls by page kind, idle.

These are tables of `kloc compare --details`. The share of time in the kernel is what papers report
of a workload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from kloc.base.stats import fraction, total
from kloc.measure.record import Run
from kloc.results import by_policy
from kloc.results.table import full_width

if TYPE_CHECKING:
    from rich.table import Table

TITLE = "time of the workload's cores, %; medians over seeds"
STALL_TITLE = "stalls, ms per second of core time; medians over seeds"

SMALL = 1.0
"""Kinds with fewer ms of stalls per second of core time, in all rows, are part of REST."""

REST = "rest"
KINDS_MAX = 8
"""The columns of page kinds that the table of stalls has at most, without REST."""

TIERS = ("fast", "slow", "cache")


@dataclass(frozen=True)
class CoreTime:
    """The shares of the time of the workload's cores, as fractions; together they are 1.

    `user_stalls` and `kernel_stalls` are those parts of `user` and `kernel` in which the core
    waited for memory.
    """

    user: float
    user_stalls: float
    kernel: float
    kernel_stalls: float
    idle: float

    @classmethod
    def of(cls, run: Run) -> CoreTime | None:
        """Return the shares of a run; None if it lacks what each core did, or stalls by mode.

        Executing is divided by the instructions in each mode, which all take the same time. The
        stalls of the spare cores, on which only kernel threads run, are not the workload's.
        """
        if not run.get("by_core") or not has_modes(run.get("stall_ns")):
            return None
        count = int(run["cores"])
        cores, spare = run["by_core"][:count], run["by_core"][count:]
        idle = _sum(cores, "idle_ns")
        executing = max(0.0, len(cores) * 1e9 * run["seconds"] - idle - _sum(cores, "stall_ns"))
        user, kernel = _sum(cores, "user"), _sum(cores, "kernel")
        user_stalls = in_mode(run["stall_ns"], "user")
        kernel_stalls = max(0.0, in_mode(run["stall_ns"], "kernel") - _sum(spare, "stall_ns"))
        user_time = executing * fraction(user, user + kernel) + user_stalls
        kernel_time = executing * fraction(kernel, user + kernel) + kernel_stalls
        whole = user_time + kernel_time + idle
        parts = (user_time, user_stalls, kernel_time, kernel_stalls, idle)
        return cls(*(fraction(part, whole) for part in parts))

    @property
    def kernel_of_busy(self) -> float:
        """The kernel's share of the time in which the cores were not idle."""
        return fraction(self.kernel, self.user + self.kernel)


def tables(runs: Sequence[Run], width: int) -> list[Table]:
    """Return the tables of shares and of stalls, without those that have no rows.

    The table of stalls has a column for as many page kinds as fit into `width` characters.
    """
    grouped = by_policy.grouped(runs)
    several = by_policy.several_variants(grouped)
    found = (_shares(grouped, several), _stalls(grouped, several, width))
    return [table for table in found if table.row_count]


def _shares(grouped: Mapping[by_policy.Names, Sequence[Run]], several: bool) -> Table:
    """Return the table of the shares of user and kernel mode, and idle."""
    columns: list[tuple[str, Callable[[CoreTime], float]]] = [
        ("user", lambda one: one.user),
        ("of it\nstalls", lambda one: one.user_stalls),
        ("kernel", lambda one: one.kernel),
        ("of it\nstalls", lambda one: one.kernel_stalls),
        ("idle", lambda one: one.idle),
        ("kernel\nof busy", lambda one: one.kernel_of_busy),
    ]
    table = by_policy.empty_table(TITLE, several, [name for name, _ in columns])
    for names, same in grouped.items():
        times = [time for run in same if (time := CoreTime.of(run))]
        if times:
            cells = [f"{100 * median(share(time) for time in times):.0f}" for _, share in columns]
            table.add_row(*by_policy.cells(names, several), *cells)
    return table


def _stalls(grouped: Mapping[by_policy.Names, Sequence[Run]], several: bool, width: int) -> Table:
    """Return the table of stalls, with a row for each tier and a column for each page kind."""
    rows: dict[tuple[str, ...], dict[str, float]] = {
        (*names, tier): by_kind
        for names, same in grouped.items()
        for tier in TIERS
        if (by_kind := stalls_by_kind(same, tier))
    }
    for most in range(KINDS_MAX, 0, -1):
        table = _stalls_by(_columns(rows.values(), most), rows, several)
        if full_width(table) <= width:
            break
    return table


def _stalls_by(
    kinds: Sequence[str], rows: Mapping[tuple[str, ...], Mapping[str, float]], several: bool
) -> Table:
    """Return the table of stalls with columns for these kinds."""
    table = by_policy.empty_table(STALL_TITLE, several, ["all", *kinds], "stalls\non")
    for names, by_kind in rows.items():
        cells = [sum(by_kind.values()), *(by_kind.get(kind, 0.0) for kind in kinds)]
        if REST in kinds:
            cells[-1] = sum(value for kind, value in by_kind.items() if kind not in kinds)
        texts = [f"{cell:,.0f}" if cell >= 0.5 else "" for cell in cells]
        table.add_row(*by_policy.cells(names, several), *texts)
    return table


def stalls_by_kind(runs: Sequence[Run], tier: str) -> dict[str, float]:
    """Return the stalls on a tier by page kind, in ms per second of the workload's core time.

    They are medians over seeds. All slab caches are one kind.
    """
    by_run: list[dict[str, float]] = []
    for run in runs:
        seconds = run["seconds"] * run.get("cores", 1)
        sums: dict[str, float] = {}
        for name, stall in run.get("stall_ns", {}).get(tier, {}).items():
            kind = name.partition(":")[0]
            sums[kind] = sums.get(kind, 0.0) + fraction(total(stall) / 1e6, seconds)
        by_run.append(sums)
    kinds = dict.fromkeys(kind for sums in by_run for kind in sums)
    return {kind: median(sums.get(kind, 0.0) for sums in by_run) for kind in kinds}


def _columns(rows: Iterable[Mapping[str, float]], most: int) -> list[str]:
    """Return the kinds to show, those with the most stalls first, and REST if there are others.

    `most` is how many are shown, without REST.
    """
    largest: dict[str, float] = {}
    for by_kind in rows:
        for kind, value in by_kind.items():
            largest[kind] = max(largest.get(kind, 0.0), value)
    shown = sorted((kind for kind in largest if largest[kind] >= SMALL), key=lambda k: -largest[k])
    return shown if len(shown) == len(largest) <= most else [*shown[:most], REST]


def has_modes(stalls: Mapping[str, Mapping[str, object]] | None) -> bool:
    """Return whether the stalls of all page kinds are divided into user and kernel mode."""
    return stalls is not None and all(
        isinstance(stall, Mapping) for kinds in stalls.values() for stall in kinds.values()
    )


def in_mode(stalls: Mapping[str, Mapping[str, Mapping[str, float]]], mode: str) -> float:
    """Return the stalls in a mode, "user" or "kernel", on all tiers and page kinds."""
    return sum(stall.get(mode) or 0 for kinds in stalls.values() for stall in kinds.values())


def _sum(cores: Iterable[Mapping[str, float]], key: str) -> float:
    return sum(core.get(key, 0) for core in cores)
