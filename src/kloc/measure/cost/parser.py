# SPDX-License-Identifier: GPL-2.0
"""What our patches cost, off and on: instructions and cache lines of system calls.

machine/bench/calls.c makes the calls, on each kernel, under QEMU's -icount; the difference
between two kernels of the same configuration and compiler is what the one has and the other has
not. Nothing is left to chance; but where objects lie and when the timer ticks, which differs from
kernel to kernel, is worth up to 0.3 % of a round of fork, exit and wait. So each kernel is measured
in several layouts of memory, and the median is what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median_low
from typing import TYPE_CHECKING

from kloc.base.errors import KlocError

if TYPE_CHECKING:
    pass

KNOWN_INSTRUCTIONS, KNOWN_LINES = 402, 100
"""What "known" takes more than "nothing": the two calls of calls.c's first group."""


@dataclass(frozen=True)
class Call:
    """What one call takes, the median of many: instructions, and data cache lines touched."""

    name: str
    instructions: int
    lines: int


@dataclass(frozen=True)
class Group:
    """Calls made in one loop; `instructions` and `lines` are the mean of a round, rare work too.

    Instructions are the whole loop's, with what came between: interrupts, and the measuring.
    """

    name: str
    rounds: int
    instructions: float
    lines: float
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Memory:
    """What contexts take, at the end: bytes, but for their number and the pages that they hold.

    `counts` is what is kept for each page, of all `memory`.
    """

    contexts: int
    knodes: int
    pages: int
    counts: int
    memory: int


Run = tuple[tuple[Group, ...], Memory | None]
"""What one run of calls.c says: the groups, and the contexts at its end."""


def parse(printed: Iterable[str], touched: str) -> Run:
    """Return what calls.c printed (its comment has the form), but for the check's group.

    `touched` is what count.c wrote. A failure of the program's, output that is not whole, and
    figures of the check that are not what is known: KlocError.
    """
    lines: dict[int, list[int]] = {}
    for entry in touched.splitlines():
        call, count = entry.split()
        lines.setdefault(int(call), []).append(int(count))
    groups: list[Group] = []
    memory: Memory | None = None
    ended = ""
    for line in printed:
        word, _, rest = line.partition(" ")
        if word == "group":
            groups.append(Group(rest, 0, 0, 0, ()))
        elif word == "rounds":
            rounds, instructions = map(int, rest.split())
            groups[-1] = Group(groups[-1].name, rounds, instructions / rounds, 0, ())
        elif word == "call":
            groups[-1] = _with_call(groups[-1], rest, lines)
        elif word == "contexts":
            memory = Memory(*map(int, rest.split()))
        elif word in ("done", "failed"):
            ended = line
    if ended != "done":
        raise KlocError(ended or "it ended before all calls were made")
    check, *measured = groups
    overhead = _overhead(check)
    return tuple(_without(overhead, group) for group in measured), memory


def _with_call(group: Group, line: str, lines: Mapping[int, list[int]]) -> Group:
    """Return the group with the call of this line: NUMBER NAME: INSTRUCTIONS:TIMES ..."""
    title, _, counted = line.partition(": ")
    number, _, name = title.partition(" ")
    samples: list[int] = []
    for pair in counted.split():
        value, times = map(int, pair.split(":"))
        samples += [value] * times
    touched = lines.get(int(number), [])
    if len(samples) != group.rounds or len(touched) != group.rounds:
        raise KlocError(
            f"{name}: {group.rounds} calls, instructions of {len(samples)}, "
            f"cache lines of {len(touched)}"
        )
    call = Call(name, median_low(samples), median_low(touched))
    per_round = group.lines + sum(touched) / group.rounds
    return Group(group.name, group.rounds, group.instructions, per_round, (*group.calls, call))


def _overhead(check: Group) -> int:
    """Return the instructions of measuring nothing, if what is known comes out."""
    nothing, known = check.calls
    found = (known.instructions - nothing.instructions, known.lines)
    if found != (KNOWN_INSTRUCTIONS, KNOWN_LINES) or nothing.lines:
        raise KlocError(
            f"a loop of {KNOWN_INSTRUCTIONS} instructions and {KNOWN_LINES} cache lines "
            f"was counted as {found[0]} and {found[1]}"
        )
    return nothing.instructions


def _without(overhead: int, group: Group) -> Group:
    calls = tuple(Call(one.name, one.instructions - overhead, one.lines) for one in group.calls)
    return Group(group.name, group.rounds, group.instructions, group.lines, calls)
