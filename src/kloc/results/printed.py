# SPDX-License-Identifier: GPL-2.0
"""Prints a document of runs as text: what `kloc compare` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kloc.base import terminal
from kloc.results import (
    ahead,
    bounds,
    core_time,
    details,
    efficiency,
    inputs,
    moves,
    native,
    table,
    versions,
    work,
)

if TYPE_CHECKING:
    from rich.console import Console


def with_ratios(content: Mapping[str, Any], against: str | None) -> dict[str, Any]:
    """Return the document with the ratios to its baselines; `against` names one, if not None.

    It also gets what is known of bounds on slowdown.
    """
    return bounds.included(efficiency.included(ahead.included(content, against), against))


def show(
    content: Mapping[str, Any], console: Console, against: str | None = None, detailed: bool = False
) -> None:
    """Print a document: tables, the ratios to the baseline, details if asked for, and notes."""
    if native.is_native(content):
        native.show(content, console, against)
        return
    runs = content["runs"]
    console.print(*table.comparisons(runs, console.width), sep="\n")
    console.print(*efficiency.tables(runs, against), sep="\n", end="")
    console.print(*filter(None, [bounds.table(runs)]), sep="\n", end="")
    for lines in (ahead.lines(content, against), moves.lines(runs)):
        if lines:
            # Each line is whole: a narrow terminal would break it where a program looks for it.
            console.print(*lines, "", sep="\n", markup=False, highlight=False, soft_wrap=True)
    if detailed:
        tables = [details.details(runs), bounds.details(runs), moves.table(runs)]
        tables += core_time.tables(runs, console.width)
        console.print(*filter(None, tables), sep="\n")
        console.print(*versions.commit_lines(runs), sep="\n", markup=False)
    notes = [*table.remarks(runs), *work.lines(content, against)]
    for line in [*notes, *versions.lines(content), *inputs.lines(runs)]:
        # A program that reads standard output finds each line whole.
        folded = console.is_terminal or console is not terminal.stdout()
        console.print(line, markup=False, soft_wrap=not folded)
