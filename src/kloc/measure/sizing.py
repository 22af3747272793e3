# SPDX-License-Identifier: GPL-2.0
"""Finds the smallest fast memory with which a policy stays near all-fast (`kloc size`).

Thermostat (ASPLOS 2017, section 5.1 and Figure 11) varies the slowdown that is tolerated, and shows
how much memory is then cold. Here the capacity of fast memory is varied, so that every policy can
be asked the same question.

The search is a bisection over a grid of at most STEPS + 1 sizes, for all bounds and policies at
once. Each round measures what they need next, several machines at a time; what is measured for one
bound serves all others. Throughput need not rise with every size: which pages a policy moves is
partly luck. So the answer is the smallest measured size from which on no measured size misses the
bound, and it is measured again with another seed.

Limits:
- Sizes between two of the grid, and most sizes of the grid itself, are not measured. A smaller one
  may meet the bound by luck.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kloc.base import stats
from kloc.base.errors import UsageError
from kloc.machine.profile import CAPACITY_STEP, FAST_MIN, MEMORY_MAX, Profile
from kloc.measure import policy
from kloc.measure.policy import Policy
from kloc.measure.record import Run, identity
from kloc.measure.task import Task, check_workload_names
from kloc.measure.workload import Size, Workload

STEPS = 16
"""The grid divides the range of sizes into this many steps at most."""

HEADROOM = Fraction(3, 2)
"""The largest size is the memory in use times this: policies keep up to 30 % of a tier free."""

REFERENCE = "all-fast"
"""The policy whose throughput the bounds are relative to."""

SEEDS = 1 << 32

PAGE_BYTES = 4096
"""The size of the guest's pages."""

FOUND, NO_SIZE, UNFINISHED = "found", "no size", "unfinished"
"""The states of an answer."""


@dataclass(frozen=True)
class Answer:
    """The smallest fast memory with which a policy stays within a bound.

    `bound` and `slowdown` are in percent of the throughput of all-fast with the same seed.
    `fast_bytes` and `throughput` (operations a second) are those of the size that was found; of the
    largest one if no size meets the bound; None if the search was stopped before. `smallest`: the
    size is the smallest that a machine can have. `checked` is the slowdown with another seed, None
    if it was not measured. `lucky` are smaller sizes that met the bound although a larger one did
    not.
    """

    policy: str
    bound: float
    state: str
    fast_bytes: int | None = None
    throughput: float | None = None
    slowdown: float | None = None
    smallest: bool = False
    checked: float | None = None
    lucky: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sizing:
    """A search: one workload on one machine and seed, under several policies and bounds.

    Bounds are in percent. The machine's own fast memory only matters to all-fast, where all memory
    is timed as fast.
    """

    workload: Workload
    policies: tuple[Policy, ...]
    bounds: tuple[float, ...]
    host: Profile
    seed: int
    size: Size

    def check(self) -> None:
        """Raise KlocError if a policy cannot be measured, or a machine is impossible here."""
        for one in self.policies:
            if one.timing is not None or one.frames_from is not None:
                raise UsageError(
                    f"policy {one.name} does not depend on the capacity of fast memory: it times "
                    "memory as fast or slow by itself",
                    "kloc size is for policies that place and move pages, such as tpp and kloc",
                )
            check_workload_names(one)
        self.host.varied(Fraction(self.limits()[1], self.host.fast.capacity))

    @property
    def check_seed(self) -> int:
        """The seed with which the sizes that were found are measured again."""
        return (self.seed + 1) % SEEDS

    @property
    def measured(self) -> list[Policy]:
        """All policies that are measured, the reference first."""
        return [policy.load(REFERENCE), *self.policies]

    def limits(self) -> tuple[int, int]:
        """Return the smallest and the largest fast memory that the machine can have, in bytes."""
        step = self.host.sockets * CAPACITY_STEP
        return -(-FAST_MIN // step) * step, (MEMORY_MAX - self.host.slow.capacity) // step * step

    def references(self) -> list[Task]:
        """Return the runs of all-fast: one for each seed."""
        return [self._task(policy.load(REFERENCE), None, seed) for seed in self._seeds()]

    def in_use(self, runs: Iterable[Run]) -> int | None:
        """Return the memory in use under all-fast in bytes, None before it was measured.

        It is the mean over the region, of all pages that are not free, the kernel's included.
        """
        reference = self.references()[0].identity()
        return next((used_bytes(run) for run in runs if identity(run) == reference), None)

    def sizes(self, runs: Iterable[Run]) -> list[int]:
        """Return the sizes of the grid in bytes, ascending; none before all-fast was measured."""
        used = self.in_use(runs)
        return [] if used is None else grid(*self.limits(), int(HEADROOM * used), self._step())

    def todo(self, runs: Sequence[Run]) -> list[Task]:
        """Return the next runs to measure, given the results so far; none at the end."""
        known = {identity(run) for run in runs}
        if missing := [task for task in self.references() if task.identity() not in known]:
            return missing
        sizes = self.sizes(runs)
        found = [task for one in self.policies for task in self._next(one, sizes, runs)]
        return list({task.identity(): task for task in found}.values())

    def tasks(self, runs: Sequence[Run]) -> list[Task]:
        """Return all runs that the search may make, as far as the results so far tell."""
        return self.references() + [
            self._task(one, size, seed)
            for one in self.policies
            for size in self.sizes(runs)
            for seed in self._seeds()
        ]

    def runs_at_most(self) -> int:
        """Return the most runs that the search can take."""
        probes, inner = 2, STEPS - 1
        level = 1
        while inner > 0:
            probes += min(len(self.bounds), level, inner)
            inner, level = inner - level, 2 * level
        return len(self.references()) + len(self.policies) * (probes + len(self.bounds))

    def answers(self, runs: Sequence[Run]) -> list[Answer]:
        """Return what the results so far tell about each policy and bound, in this order."""
        sizes = self.sizes(runs)
        return [
            self._answer(one, bound, sizes, runs) for one in self.policies for bound in self.bounds
        ]

    def in_order(self, runs: Iterable[Run]) -> list[Run]:
        """Return results by policy, size and seed: a search that was resumed ends as another."""
        order = [one.name for one in self.measured]

        def place(run: Run) -> tuple[int, int, int]:
            rank = order.index(run["policy"]) if run["policy"] in order else len(order)
            return rank, run["machine"]["fast_bytes"], run["seed"]

        return sorted(runs, key=place)

    def _answer(
        self, used: Policy, bound: float, sizes: Sequence[int], runs: Sequence[Run]
    ) -> Answer:
        slowdowns = self._slowdowns(used, self.seed, sizes, runs)
        met = {index: slowdown <= bound for index, slowdown in slowdowns.items()}
        if not sizes or probes(met, len(sizes) - 1):
            return Answer(used.name, bound, UNFINISHED)
        last = len(sizes) - 1
        found = smallest(met) if met[last] else last
        again = self._slowdowns(used, self.check_seed, sizes, runs)
        throughputs = self._throughputs(used, self.seed, sizes, runs)
        return Answer(
            policy=used.name,
            bound=bound,
            state=FOUND if met[last] else NO_SIZE,
            fast_bytes=sizes[found],
            throughput=throughputs[found],
            slowdown=slowdowns[found],
            smallest=met[last] and found == 0,
            checked=again.get(found) if met[last] else None,
            lucky=tuple(sizes[index] for index in sorted(met) if met[index] and index < found),
        )

    def _next(self, used: Policy, sizes: Sequence[int], runs: Sequence[Run]) -> list[Task]:
        """Return the sizes to bisect at under a policy; if there are none, the check runs."""
        slowdowns = self._slowdowns(used, self.seed, sizes, runs)
        wanted = {
            index: None
            for bound in self.bounds
            for index in probes(
                {index: slowdown <= bound for index, slowdown in slowdowns.items()}, len(sizes) - 1
            )
        }
        if wanted:
            return [self._task(used, sizes[index], self.seed) for index in wanted]
        answers = [self._answer(used, bound, sizes, runs) for bound in self.bounds]
        return [
            self._task(used, one.fast_bytes, self.check_seed)
            for one in answers
            if one.state == FOUND and one.checked is None
        ]

    def _slowdowns(
        self, used: Policy, seed: int, sizes: Sequence[int], runs: Sequence[Run]
    ) -> dict[int, float]:
        """Return the slowdowns that were measured, in percent, by the index of the size."""
        (task,) = [task for task in self.references() if task.seed == seed]
        known = [run["throughput"] for run in runs if identity(run) == task.identity()]
        if not known:
            return {}
        (reference,) = known
        return {
            index: 100 * (1 - stats.fraction(throughput, reference))
            for index, throughput in self._throughputs(used, seed, sizes, runs).items()
        }

    def _throughputs(
        self, used: Policy, seed: int, sizes: Sequence[int], runs: Iterable[Run]
    ) -> dict[int, float]:
        """Return the throughputs that were measured, by the index of the size."""
        known = {identity(run): run["throughput"] for run in runs}
        tasks = [self._task(used, size, seed) for size in sizes]
        return {
            index: known[task.identity()]
            for index, task in enumerate(tasks)
            if task.identity() in known
        }

    def _task(self, used: Policy, fast_bytes: int | None, seed: int) -> Task:
        """Return the run with this fast memory, None for that of the machine."""
        factor = None if fast_bytes is None else Fraction(fast_bytes, self.host.fast.capacity)
        return Task(self.workload, used, self.host.varied(factor), seed, self.size)

    def _step(self) -> int:
        return self.host.sockets * CAPACITY_STEP

    def _seeds(self) -> tuple[int, int]:
        return self.seed, self.check_seed


def grid(least: int, most: int, wanted: int, step: int) -> list[int]:
    """Return sizes from `least` to `wanted`, or to `most` if that is smaller, in bytes.

    They are at most STEPS + 1, equally far apart but for the last, and multiples of `step`.
    """
    top = min(most, max(least, -(-wanted // step) * step))
    distance = max(step, -(-(top - least) // (STEPS * step)) * step)
    return [*range(least, top, distance), top]


def probes(met: Mapping[int, bool], last: int) -> list[int]:
    """Return the indices of sizes to measure next, none if `met` has the answer.

    `met` says of the measured sizes, 0 to `last`, whether they meet the bound. The ends are first.
    Then the bisection goes on between the largest size that misses the bound, and the next larger
    one that was measured.
    """
    if ends := [index for index in dict.fromkeys((last, 0)) if index not in met]:
        return ends
    if not met[last]:
        return []
    low, high = _failing(met), smallest(met)
    return [] if high == low + 1 else [(low + high) // 2]


def smallest(met: Mapping[int, bool]) -> int:
    """Return the smallest index from which on all sizes in `met` meet the bound."""
    low = _failing(met)
    return min(index for index in met if index > low)


def used_bytes(run: Run) -> int:
    """Return the memory in use in a run's region, in bytes: the mean of all pages but free ones."""
    pages: Mapping[str, Mapping[str, int]] = run["pages"]
    return PAGE_BYTES * sum(
        count for kinds in pages.values() for kind, count in kinds.items() if kind != "free"
    )


def _failing(met: Mapping[int, bool]) -> int:
    """Return the largest index that does not meet the bound, -1 if there is none."""
    return max((index for index, is_met in met.items() if not is_met), default=-1)
