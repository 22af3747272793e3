# SPDX-License-Identifier: GPL-2.0
"""Placement by kind, in the model alone: what is there to win, before anyone builds it.

Each row names kinds of pages that are timed as fast, wherever they lie; all
others are timed as slow. The guest is set up in the same way for every row, as
for the bound all-slow, so that only time differs. Fast memory has no limit
here: a row by kind has all pages of its kinds in it. The oracle by page, which
is computed from the first row, has as much as the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kloc.machine.parts import Parts
from kloc.machine.profile import Profile
from kloc.measure import policy
from kloc.measure.policy import Policy
from kloc.measure.record import Run
from kloc.measure.runner import Incomplete, Interrupted, measure
from kloc.measure.task import Task
from kloc.measure.workload import Size, Workload

APPLICATION = ("anon", "shmem")
KERNEL: Mapping[str, tuple[str, ...]] = {
    "page cache": ("file",),
    "block devices": ("blockdev",),
    "slab": ("slab:*",),
    "page tables": ("pagetable",),
    "sockets": ("socket",),
    "the rest": ("stack", "kernel", "other", "unknown"),
}
"""The kernel's kinds, in the groups that are placed in turn."""

NEITHER, BOTH, ORACLE = "all-slow", "all-fast", "oracle"
LEAST_SHARE = 0.001
"""Of the all-slow run's stall: groups with less are not run, for they can win no more."""


@dataclass(frozen=True)
class Row:
    """One placement: the kinds that are fast; `group` is the kernel's that is placed in turn."""

    name: str
    fast: tuple[str, ...]
    group: str | None = None

    def policy(self) -> Policy:
        """Return what this row is measured under: the settings of the bound all-slow."""
        base = policy.load(NEITHER)
        return replace(base, name=self.name, timing=None, fast_kinds=self.fast)


def rows() -> list[Row]:
    """Return all rows, in the order in which they are shown."""
    kernel = tuple(kind for kinds in KERNEL.values() for kind in kinds)
    return [
        Row(NEITHER, ()),
        Row("kernel", kernel),
        Row("application", APPLICATION),
        *(
            Row(f"application + {group}", APPLICATION + kinds, group)
            for group, kinds in KERNEL.items()
        ),
        Row(BOTH, APPLICATION + kernel),
    ]


def tasks(
    chosen: Iterable[Row], what: Workload, host: Profile, seed: int, size: Size
) -> list[Task]:
    """Return the runs that these rows need; the first also counts misses by page."""
    return [
        Task(what, row.policy(), host, seed, size, frames=row.name == NEITHER) for row in chosen
    ]


def run(
    what: Workload, host: Profile, seed: int, size: Size, parts: Parts, followed: bool = False
) -> tuple[list[Run], list[str]]:
    """Measure what is worth it; return the results, and the groups that were not run.

    The bounds and the two halves come first: they tell which groups can matter. Incomplete and
    Interrupted, as of `measure`, have all results that there are.
    """

    def results(chosen: Sequence[Row]) -> list[Run]:
        todo = tasks(chosen, what, host, seed, size)
        wanted = [task.policy for task in todo]
        if any(task.frames for task in todo):
            wanted.append(policy.load(ORACLE))
        return measure(todo, wanted, {what.name: parts}, followed)

    runs = results([row for row in rows() if row.group is None])
    share = shares(next(each for each in runs if each["policy"] == NEITHER))
    skipped = [group for group in KERNEL if share[group] < LEAST_SHARE]
    more = [row for row in rows() if row.group is not None and row.group not in skipped]
    try:
        runs += results(more) if more else []
    except (Incomplete, Interrupted) as ended:
        ended.runs = _in_order(runs + ended.runs)
        raise
    return _in_order(runs), skipped


def _in_order(runs: Iterable[Run]) -> list[Run]:
    order = [row.name for row in rows()]
    order.insert(order.index(BOTH), ORACLE)
    return sorted(runs, key=lambda each: order.index(each["policy"]))


def shares(run: Run) -> dict[str, float]:
    """Return the share of a run's stall that pages of each group of the kernel's had."""
    stalls: dict[str, float] = dict.fromkeys(KERNEL, 0.0)
    total = 0.0
    for kinds in run["stall_ns"].values():
        for kind, modes in kinds.items():
            stall = sum(modes.values())
            total += stall
            if (group := group_of(kind)) is not None:
                stalls[group] += stall
    return {group: stall / total if total else 0.0 for group, stall in stalls.items()}


def group_of(kind: str) -> str | None:
    """Return the group of the kernel's that pages of this kind are in; None: the application's."""
    if kind in APPLICATION:
        return None
    for group, kinds in KERNEL.items():
        if kind in kinds or (kind.startswith("slab:") and "slab:*" in kinds):
            return group
    return "the rest"


def footprint(run: Run) -> int:
    """Return how many pages a placement by kind has in fast memory, in the mean."""
    return sum(count for kind, count in run["pages"].get("fast", {}).items() if kind != "free")


def remarks(runs: Sequence[Run], skipped: Sequence[str]) -> list[str]:
    """Return what must be said beside the table."""
    said = []
    if sizes := [
        f"{run['policy']} {footprint(run) >> 8}"
        for run in runs
        if run.get("placement", {}).get("fast") and run["policy"] != BOTH
    ]:
        fast = runs[0]["machine"]["fast_bytes"] >> 20
        said.append(
            f"MiB that each would take of fast memory, of which there are {fast}: "
            + ", ".join(sizes)
        )
    if skipped:
        said.append(f"not run, each under 0.1 % of the stall: {', '.join(skipped)}")
    return said
