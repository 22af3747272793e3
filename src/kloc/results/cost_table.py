# SPDX-License-Identifier: GPL-2.0
"""Tables of `kloc bench cost`: system calls on several kernels, compared with a baseline.

In each sequence of kernels below, the first one is the baseline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kloc.measure.cost.kernels import MEMORY_BOUND, Column
from kloc.measure.cost.parser import Call, Group, Memory
from kloc.measure.cost.runner import Measured

if TYPE_CHECKING:
    from rich.table import Table

PAGE = 4096

COMPARED_MAX = 2
"""Kernels in a table in addition to the baseline: more do not fit into 80 columns."""


def overhead(kernel: Measured, baseline: Measured, groups: Sequence[str] = ()) -> float:
    """Return the additional instructions of a round as a fraction of the baseline's.

    A round has the calls of these groups, or of all groups if none are given.
    """
    ours, theirs = (
        sum(group.instructions for group in each.groups if not groups or group.name in groups)
        for each in (kernel, baseline)
    )
    return ours / theirs - 1


def tables(kernels: Sequence[Measured]) -> Iterable[Table]:
    """Yield tables that fit into 80 columns: of the baseline and up to two other kernels."""
    baseline, *others = kernels
    for first in range(0, max(len(others), 1), COMPARED_MAX):
        yield table([baseline, *others[first : first + COMPARED_MAX]])


def table(kernels: Sequence[Measured]) -> Table:
    """Return the table of the baseline's calls, with the differences of the other kernels."""
    from rich.box import SIMPLE
    from rich.table import Table

    baseline, *others = kernels
    table = Table(
        title="Instructions and data cache lines per call",
        title_justify="left",
        box=SIMPLE,
        padding=(0, 0, 0, 1),
        show_edge=False,
    )
    table.add_column("")
    table.add_column(f"{baseline.column.name}\ninstr.", justify="right")
    table.add_column("\nlines", justify="right")
    for kernel in others:
        table.add_column(f"{kernel.column.name}\ninstr.", justify="right")
        table.add_column("\n%", justify="right")
        table.add_column("\nlines", justify="right")
    for group_index, group in enumerate(baseline.groups):
        compared = [kernel.groups[group_index] for kernel in others]
        for call_index, call in enumerate(group.calls):
            cells = [
                cell for other in compared for cell in _difference(other.calls[call_index], call)
            ]
            table.add_row(call.name, f"{call.instructions:,}", f"{call.lines:,}", *cells)
        cells = [cell for other in compared for cell in _difference(other, group)]
        table.add_row(
            f"{group.name}: all",
            f"{group.instructions:,.0f}",
            f"{group.lines:,.0f}",
            *cells,
            style="bold",
            end_section=True,
        )
    return table


def remarks(kernels: Sequence[Measured]) -> list[str]:
    """Return one line for each kernel but the baseline: what it is, and its overhead."""
    baseline, *others = kernels
    first = baseline.groups[0].name
    return [
        f"{kernel.column.name}: {kernel.column.summary}. Overhead in instructions: "
        f"{_percent(overhead(kernel, baseline, [first]))} in {first} ({_bound(kernel.column)}), "
        f"{_percent(overhead(kernel, baseline))} in all groups."
        f"{' ' + _memory_remark(kernel.memory) if kernel.memory else ''}"
        for kernel in others
    ]


def _memory_remark(memory: Memory) -> str:
    held = memory.pages * PAGE
    return (
        f"Overhead in memory: {memory.contexts:,} contexts take {memory.knodes:,} bytes, "
        f"{100 * memory.knodes / held:.2f} % of the {held >> 10:,} KiB of pages that they hold "
        f"(bound: {100 * MEMORY_BOUND:g} %); records of pages take "
        f"{100 * memory.counts / memory.memory:.2f} % of all memory."
    )


def _bound(column: Column) -> str:
    return "no bound" if column.bound is None else f"bound: {100 * column.bound:g} %"


def _difference(ours: Call | Group, theirs: Call | Group) -> list[str]:
    """Return the cells of a difference: instructions, per cent of instructions, cache lines."""
    instructions = ours.instructions - theirs.instructions
    return [
        _signed(instructions, ",.0f"),
        _signed(100 * instructions / theirs.instructions, ".2f"),
        _signed(ours.lines - theirs.lines, ",.0f"),
    ]


def _signed(value: float, form: str) -> str:
    """Return a number with its sign, and "0" if only zeros are left after rounding."""
    text = format(value, "+" + form)
    return text if any(digit in text for digit in "123456789") else "0"


def _percent(fraction: float) -> str:
    return f"{_signed(100 * fraction, '.2f')} %"
