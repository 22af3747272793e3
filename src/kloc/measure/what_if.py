# SPDX-License-Identifier: GPL-2.0
"""Measures the headroom of placement by page kind (`kloc what-if`), before anyone implements it.

In each row, the timing model times some page kinds as fast memory and all others as slow memory,
in whichever tier they are. The guest is set up as for the bound all-slow in every row, so that rows
differ in time only. The oracle, which places page by page, follows from the first row.

Limits:
- A row has all pages of its kinds in fast memory, whose capacity does not matter. Only the oracle
  is limited to the machine's fast memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kloc.base import stats
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
"""The page kinds of the kernel, in groups; each group has a row."""

NEITHER, BOTH, ORACLE = "all-slow", "all-fast", "oracle"
"""Names of the row without and with all kinds in fast memory, and of the oracle."""

LEAST_SHARE = 0.001
"""Groups with a smaller share of the stall time of all-slow are not run: they cannot save more."""


@dataclass(frozen=True)
class Row:
    """One placement: `fast` are the kinds in fast memory.

    `group` is the kernel's group that is placed with the application, None in other rows.
    """

    name: str
    fast: tuple[str, ...]
    group: str | None = None

    def policy(self) -> Policy:
        """Return the policy of this row, which has the settings of the bound all-slow."""
        base = policy.load(NEITHER)
        return replace(base, name=self.name, timing=None, fast_kinds=self.fast)


def rows() -> list[Row]:
    """Return all rows, in the order of the table."""
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
    chosen: Iterable[Row], workload: Workload, profile: Profile, seed: int, size: Size
) -> list[Task]:
    """Return the runs of these rows. The all-slow run also counts misses by page frame."""
    return [
        Task(workload, row.policy(), profile, seed, size, frames=row.name == NEITHER)
        for row in chosen
    ]


def run(
    workload: Workload,
    profile: Profile,
    seed: int,
    size: Size,
    parts: Parts,
    followed: bool = False,
) -> tuple[list[Run], list[str]]:
    """Measure the rows that can matter; return their results, and the groups that were not run.

    The bounds, the kernel and the application are run first: they show which groups have enough
    stall time. Raises Incomplete or Interrupted, with all results so far, as `measure` does.
    """

    def results(chosen: Sequence[Row]) -> list[Run]:
        todo = tasks(chosen, workload, profile, seed, size)
        policies = [task.policy for task in todo]
        if any(task.frames for task in todo):
            policies.append(policy.load(ORACLE))
        return measure(todo, policies, {workload.name: parts}, followed)

    runs = results([row for row in rows() if row.group is None])
    stall_shares = shares(next(run for run in runs if run["policy"] == NEITHER))
    skipped = [group for group in KERNEL if stall_shares[group] < LEAST_SHARE]
    remaining = [row for row in rows() if row.group is not None and row.group not in skipped]
    try:
        runs += results(remaining) if remaining else []
    except (Incomplete, Interrupted) as error:
        error.runs = _in_order(runs + error.runs)
        raise
    return _in_order(runs), skipped


def _in_order(runs: Iterable[Run]) -> list[Run]:
    """Return the results in the order of the table; the oracle is before all-fast."""
    order = [row.name for row in rows()]
    order.insert(order.index(BOTH), ORACLE)
    return sorted(runs, key=lambda run: order.index(run["policy"]))


def shares(run: Run) -> dict[str, float]:
    """Return the share of each of the kernel's groups in a run's stall time."""
    stalls: dict[str, float] = dict.fromkeys(KERNEL, 0.0)
    for kinds in run["stall_ns"].values():
        for kind, modes in kinds.items():
            if (group := group_of(kind)) is not None:
                stalls[group] += stats.total(modes)
    total = stats.total(run["stall_ns"])
    return {group: stats.fraction(stall, total) for group, stall in stalls.items()}


def group_of(kind: str) -> str | None:
    """Return the kernel's group of a page kind, None for a kind of the application."""
    if kind in APPLICATION:
        return None
    for group, kinds in KERNEL.items():
        if kind in kinds or (kind.startswith("slab:") and "slab:*" in kinds):
            return group
    return "the rest"


def footprint(run: Run) -> int:
    """Return how many pages a placement by kind has in fast memory, on average."""
    return sum(count for kind, count in run["pages"].get("fast", {}).items() if kind != "free")


def remarks(runs: Sequence[Run], skipped: Sequence[str]) -> list[str]:
    """Return the lines below the table: fast memory that each row needs, and groups not run."""
    lines = []
    if sizes := [
        f"{run['policy']} {footprint(run) >> 8}"
        for run in runs
        if run.get("placement", {}).get("fast") and run["policy"] != BOTH
    ]:
        capacity = runs[0]["machine"]["fast_bytes"] >> 20
        lines.append(f"fast memory needed, in MiB (the machine has {capacity}): {', '.join(sizes)}")
    if skipped:
        lines.append(f"not run, each has less than 0.1 % of the stall time: {', '.join(skipped)}")
    return lines
