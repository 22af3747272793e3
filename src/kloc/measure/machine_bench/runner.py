# SPDX-License-Identifier: GPL-2.0
"""Runs the programs with known answers on machines, one machine after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kloc.base import progress
from kloc.base.errors import KlocError
from kloc.machine import launcher
from kloc.machine.job import Job
from kloc.machine.parts import Parts, prepare_parts
from kloc.machine.profile import Profile
from kloc.measure.machine_bench import parser, published
from kloc.measure.machine_bench.answers import SOURCES, Answer, Group, expected_answers
from kloc.measure.machine_bench.published import Published

INSTRUCTIONS = 2e9
"""Estimate of what a machine executes with all groups."""

SETTINGS = {
    # Pages stay on the node that a program chooses.
    "/proc/sys/kernel/numa_balancing": "0",
    # Programs ask for huge pages; khugepaged would make some more.
    "/sys/kernel/mm/transparent_hugepage/enabled": "madvise",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag": "0",
    # known_tlb.c maps one again and again.
    "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages": "1",
}


@dataclass(frozen=True)
class Compared:
    """An answer of a machine beside what the profile says, and what was published."""

    answer: Answer
    model: float
    expected: float | None
    published: tuple[tuple[Published, float], ...]

    @property
    def deviation(self) -> float | None:
        """Return the deviation from the expectation, as a fraction of it."""
        return None if self.expected is None else self.model / self.expected - 1

    @property
    def is_off(self) -> bool:
        """Return whether the deviation is above the answer's tolerance."""
        deviation, tolerance = self.deviation, self.answer.tolerance
        return deviation is not None and tolerance is not None and abs(deviation) > tolerance


@dataclass(frozen=True)
class Measured:
    """A machine with its known answers, by group, in the order of the table."""

    profile: Profile
    parts: Parts
    groups: tuple[tuple[Group, tuple[Compared, ...]], ...]

    @property
    def compared(self) -> list[Compared]:
        """Return the answers of all groups."""
        return [one for _, compared in self.groups for one in compared]


def measure(profiles: Iterable[Profile], groups: Sequence[Group]) -> list[Measured]:
    """Build the parts of the machines, then run the groups' programs on one after the other.

    Raises KlocError, which names the machine, if a run fails.
    """
    parts = prepare_parts((), sorted(SOURCES.glob("*.c")))
    return [
        _measure(profile, parts, [one for one in groups if expected_answers([one], profile)])
        for profile in profiles
    ]


def job(profile: Profile, groups: Sequence[Group]) -> Job:
    """Return the job that runs the groups' programs."""
    commands = [command for group in groups for command in group.commands(profile)]
    return Job(
        name=f"bench-{profile.name}",
        profile=profile,
        scripts={"measured": "\n".join(commands) + "\n"},
        settings=SETTINGS,
        instructions=INSTRUCTIONS * len(groups) / 6,
    )


def _measure(profile: Profile, parts: Parts, groups: Sequence[Group]) -> Measured:
    todo = job(profile, groups)
    with progress.shown(f"known answers of {profile.name}", todo.instructions) as bar:
        raw = launcher.run(todo, parts, lambda machine: bar.update(machine.instructions))
    try:
        values = parser.parse(raw.frames["measured"], expected_answers(groups, profile))
    except KlocError as error:
        raise KlocError(f"{profile.name}: {error.message}", error.hint) from error
    return Measured(profile, parts, compare(profile, groups, values))


def compare(
    profile: Profile, groups: Sequence[Group], values: dict[str, float]
) -> tuple[tuple[Group, tuple[Compared, ...]], ...]:
    """Return the values, by name, beside what they should be, by group."""
    return tuple(
        (
            group,
            tuple(
                Compared(
                    answer,
                    values[answer.name],
                    answer.expected(profile, values) if answer.expected else None,
                    tuple(
                        (one, one.value * (values[one.times] if one.times else 1))
                        for one in published.figures(profile.name, answer.name)
                        if not one.times or one.times in values
                    ),
                )
                for answer in expected_answers([group], profile)
            ),
        )
        for group in groups
    )
