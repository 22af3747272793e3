# SPDX-License-Identifier: GPL-2.0
"""What our patches cost, off and on: instructions and cache lines of system calls.

machine/bench/calls.c makes the calls, on each kernel, under QEMU's -icount; the difference
between two kernels of the same configuration and compiler is what the one has and the other has
not. Nothing is left to chance; but where objects lie and when the timer ticks, which differs from
kernel to kernel, is worth up to 0.3 % of a round of fork, exit and wait. So each kernel is measured
in several layouts of memory, and the median is what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kloc.build import root
from kloc.measure.cost.kernels import MEMORY_BOUND, Column
from kloc.measure.cost.parser import Call, Group, Memory
from kloc.measure.cost.runner import Measured

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = 1

PAGE = 4096


def change(of: Measured, reference: Measured, names: Sequence[str] = ()) -> float:
    """Return by what fraction a round of these groups (of all, if none) takes more instructions."""
    ours, theirs = (
        sum(group.instructions for group in each.groups if not names or group.name in names)
        for each in (of, reference)
    )
    return ours / theirs - 1


def document(all_measured: Sequence[Measured]) -> dict[str, Any]:
    """Return a result file's content; docs/results.md describes it."""
    return {
        "schema": SCHEMA,
        "versions": root.tool_root().versions(),
        "kernels": [
            {
                "name": one.column.name,
                "summary": one.column.summary,
                "variant": one.column.variant,
                "settings": dict(one.column.settings),
                "release": one.built.release,
                "series": one.built.series,
                "groups": [_group(group) for group in one.groups],
                "memory": asdict(one.memory) if one.memory else None,
            }
            for one in all_measured
        ],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "rounds": group.rounds,
        "instructions": group.instructions,
        "lines": group.lines,
        "calls": {
            call.name: {"instructions": call.instructions, "lines": call.lines}
            for call in group.calls
        },
    }


def tables(all_measured: Sequence[Measured]) -> Iterable[Table]:
    """Return tables of the reference and two others each: 80 columns have no room for more."""
    reference, *others = all_measured
    for first in range(0, max(len(others), 1), 2):
        yield table([reference, *others[first : first + 2]])


def table(all_measured: Sequence[Measured]) -> Table:
    """Return what the calls take on the reference, which is first, and how the others differ."""
    from rich.box import SIMPLE
    from rich.table import Table

    reference, *others = all_measured
    title = "A call's instructions and data cache lines"
    made = Table(
        title=title, title_justify="left", box=SIMPLE, padding=(0, 0, 0, 1), show_edge=False
    )
    made.add_column("")
    made.add_column(f"{reference.column.name}\ninstr.", justify="right")
    made.add_column("\nlines", justify="right")
    for one in others:
        made.add_column(f"{one.column.name}\ninstr.", justify="right")
        made.add_column("\n%", justify="right")
        made.add_column("\nlines", justify="right")
    for number, group in enumerate(reference.groups):
        same = [one.groups[number] for one in others]
        for index, call in enumerate(group.calls):
            cells = [cell for each in same for cell in _differences(each.calls[index], call)]
            made.add_row(call.name, f"{call.instructions:,}", f"{call.lines:,}", *cells)
        cells = [cell for each in same for cell in _differences(each, group)]
        made.add_row(
            f"{group.name}: all",
            f"{group.instructions:,.0f}",
            f"{group.lines:,.0f}",
            *cells,
            style="bold",
            end_section=True,
        )
    return made


def _differences(ours: Call | Group, theirs: Call | Group) -> list[str]:
    instructions = ours.instructions - theirs.instructions
    return [
        _signed(instructions, ",.0f"),
        _signed(100 * instructions / theirs.instructions, ".2f"),
        _signed(ours.lines - theirs.lines, ",.0f"),
    ]


def _signed(value: float, form: str) -> str:
    """Return the number with its sign; 0 where nothing else would be left of it."""
    text = format(value, "+" + form)
    return text if any(digit in text for digit in "123456789") else "0"


def _percent(fraction: float) -> str:
    return f"{_signed(100 * fraction, '.2f')} %"


def remarks(all_measured: Sequence[Measured]) -> list[str]:
    """Return, for each kernel but the reference, what it is and what it costs in all."""
    reference, *others = all_measured
    first = reference.groups[0].name
    return [
        f"{one.column.name}: {one.column.summary}. "
        f"{first}: {_percent(change(one, reference, [first]))} of instructions "
        f"({_bound(one.column)}), all groups: {_percent(change(one, reference))}"
        f"{_in_memory(one.memory) if one.memory else ''}"
        for one in others
    ]


def _bound(column: Column) -> str:
    return "no bound" if column.bound is None else f"bound: {100 * column.bound:g} %"


def _in_memory(of: Memory) -> str:
    held = of.pages * PAGE
    return (
        f". Memory: {of.contexts:,} contexts take {of.knodes:,} bytes, "
        f"{100 * of.knodes / held:.2f} % of the {held >> 10:,} KiB of pages that they hold "
        f"(bound: {100 * MEMORY_BOUND:g} %); the counts of pages {100 * of.counts / of.memory:.2f} "
        "% of all memory"
    )
