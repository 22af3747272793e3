# SPDX-License-Identifier: GPL-2.0
"""Parses the output of calls.c and count.c, checks it, and subtracts the cost of measuring.

machine/bench/calls.c counts the instructions of each call and prints histograms; its first comment
describes the form. The QEMU plugin count.c writes the number of cache lines that each call touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median_low

from kloc.base.errors import KlocError

KNOWN_INSTRUCTIONS, KNOWN_LINES = 402, 100
"""What the call "known" executes and touches more than "nothing"; both are in calls.c's check."""


@dataclass(frozen=True)
class Call:
    """The cost of one call, as the median of many: instructions, and data cache lines touched."""

    name: str
    instructions: int
    lines: int


@dataclass(frozen=True)
class Group:
    """Calls made in one loop of `rounds`; `instructions` and `lines` are the mean of a round.

    The means include rare work. Instructions are of the complete loop, so they also include
    interrupts and the measuring between calls.
    """

    name: str
    rounds: int
    instructions: float
    lines: float
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Memory:
    """The memory of contexts at the end.

    There are `contexts` of them, with `knodes` bytes, which hold `pages` pages of page cache.
    The records of all pages of the machine have `counts` bytes, of `memory` bytes in total.
    """

    contexts: int
    knodes: int
    pages: int
    counts: int
    memory: int


Run = tuple[tuple[Group, ...], Memory | None]
"""The measured groups of one run of calls.c, and the memory of contexts if there are any."""


def parse(printed: Iterable[str], touched: str) -> Run:
    """Return the groups of a run, without the group that checks the counting.

    `printed` are the lines that calls.c printed, `touched` is the content of count.c's file. The
    instructions of measuring are subtracted from those of each call. Raises KlocError if the
    program failed, its output is incomplete, or the calls of known cost were counted wrong.
    """
    touched_lines: dict[int, list[int]] = {}
    for entry in touched.splitlines():
        number, count = entry.split()
        touched_lines.setdefault(int(number), []).append(int(count))
    groups: list[Group] = []
    memory: Memory | None = None
    ending = ""
    for line in printed:
        word, _, rest = line.partition(" ")
        if word == "group":
            groups.append(Group(rest, 0, 0, 0, ()))
        elif word == "rounds":
            rounds, instructions = map(int, rest.split())
            groups[-1] = Group(groups[-1].name, rounds, instructions / rounds, 0, ())
        elif word == "call":
            groups[-1] = _with_call(groups[-1], rest, touched_lines)
        elif word == "contexts":
            memory = Memory(*map(int, rest.split()))
        elif word in ("done", "failed"):
            ending = line
    if ending != "done":
        raise KlocError(ending or "the program ended before all calls were made")
    check, *measured = groups
    overhead = _measuring_overhead(check)
    return tuple(_without_overhead(group, overhead) for group in measured), memory


def _with_call(group: Group, line: str, touched_lines: Mapping[int, list[int]]) -> Group:
    """Return `group` with the call of this line: `NUMBER NAME: INSTRUCTIONS:TIMES ...`."""
    title, _, histogram = line.partition(": ")
    number, _, name = title.partition(" ")
    instructions: list[int] = []
    for bucket in histogram.split():
        value, times = map(int, bucket.split(":"))
        instructions += [value] * times
    lines = touched_lines.get(int(number), [])
    if len(instructions) != group.rounds or len(lines) != group.rounds:
        raise KlocError(
            f"{name} was called {group.rounds} times, but there are {len(instructions)} counts of "
            f"instructions and {len(lines)} of cache lines"
        )
    call = Call(name, median_low(instructions), median_low(lines))
    lines_per_round = group.lines + sum(lines) / group.rounds
    return Group(
        group.name, group.rounds, group.instructions, lines_per_round, (*group.calls, call)
    )


def _measuring_overhead(check: Group) -> int:
    """Return the instructions that measuring adds to each call.

    Raises KlocError unless the known instructions and cache lines of the check were counted.
    """
    nothing, known = check.calls
    counted = (known.instructions - nothing.instructions, known.lines)
    if counted != (KNOWN_INSTRUCTIONS, KNOWN_LINES) or nothing.lines:
        raise KlocError(
            f"counting is wrong: for {KNOWN_INSTRUCTIONS} instructions, {KNOWN_LINES} cache lines "
            f"and none without a call, {counted[0]}, {counted[1]} and {nothing.lines} were counted"
        )
    return nothing.instructions


def _without_overhead(group: Group, overhead: int) -> Group:
    """Return `group` with `overhead` instructions less in each call."""
    calls = tuple(Call(call.name, call.instructions - overhead, call.lines) for call in group.calls)
    return Group(group.name, group.rounds, group.instructions, group.lines, calls)
