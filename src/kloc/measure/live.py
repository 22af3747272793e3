# SPDX-License-Identifier: GPL-2.0
"""Shows running machines (--follow): stage, simulated time, pages, migrations and stall time.

On a terminal, the view is redrawn in place. Elsewhere, one line for each machine is printed every
few seconds. The figures are totals of the measured region so far, from the timing model's live file
(machine/plugin/live.h). Showing them does not affect the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kloc.base import progress, terminal
from kloc.machine.launcher import Machine

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

REDRAW_SECONDS = 0.5
"""How often the view is redrawn on a terminal."""

LINE_SECONDS = 3.0
"""How often lines are printed where there is no terminal."""

TABLE_KINDS = 8
"""This many page kinds have a row of their own in a table; one row has the sum of the others."""

LINE_KINDS = 3
"""This many page kinds are named in a line, for each tier and figure."""

NS_PER_MS = 1e6

FREE = "free"
"""The kind of free pages, which are not shown."""


@dataclass(frozen=True)
class State:
    """The state of a running machine; `seconds` is simulated time.

    `live` has totals of the measured region, and is None before it begins: `promoted` and
    `demoted` in pages, and by tier and page kind `pages` and `stall_ns`.
    """

    title: str
    stage: str
    seconds: float
    live: Mapping[str, Any] | None

    def heading(self) -> str:
        """Return title, stage, time and migrations as text."""
        text = f"{self.title}: {self.stage}, {self.seconds:.3f} s simulated"
        if self.live:
            text += f", promoted {self.live['promoted']:,}, demoted {self.live['demoted']:,} pages"
        return text


class Watch:
    """The view without --follow: only the progress `bar` of all runs."""

    def __init__(self, bar: progress.Progress) -> None:
        """Keep `bar`, which the caller updates."""
        self.bar = bar

    def show(self, running: Mapping[str, Machine]) -> None:
        """Show the running machines, by title. Call it often; it limits its own rate."""


class _Lines(Watch):
    """Prints a line for each machine, once in `seconds`."""

    def __init__(self, bar: progress.Progress, seconds: float) -> None:
        super().__init__(bar)
        self._seconds = seconds
        self._next = 0.0

    def show(self, running: Mapping[str, Machine]) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._seconds
        self.draw([state(title, machine) for title, machine in running.items()])

    def draw(self, states: Sequence[State]) -> None:
        for machine_state in states:
            terminal.say(f"{line(machine_state)}; all runs: {self.bar.share()}")


class _Redrawn(_Lines):
    """Redraws a table for each machine on the terminal."""

    def __init__(self, bar: progress.Progress, redraw: progress.Redraw) -> None:
        super().__init__(bar, REDRAW_SECONDS)
        self._redraw = redraw

    def draw(self, states: Sequence[State]) -> None:
        self._redraw(picture(self.bar.line(), states))


@contextmanager
def watching(description: str, total: float | None, followed: bool) -> Iterator[Watch]:
    """Show the progress of the block; if `followed`, show its machines, too.

    `description` and `total` are those of kloc.base.progress.
    """
    if not followed:
        with progress.shown(description, total) as bar:
            yield Watch(bar)
    elif terminal.stderr().is_terminal:
        with progress.redrawn() as redraw:
            yield _Redrawn(progress.Progress(description, total), redraw)
    else:
        yield _Lines(progress.Progress(description, total), LINE_SECONDS)


def state(title: str, machine: Machine) -> State:
    """Return the current state of a machine."""
    return State(title, machine.stage, machine.seconds, machine.live())


def line(state: State) -> str:
    """Return a state in one line, with the largest page kinds of each tier."""
    parts = [state.heading()]
    if state.live:
        for tier, kinds in state.live["pages"].items():
            parts.append(f"{tier} pages: {_largest(kinds, 1)}")
        for tier, kinds in state.live["stall_ns"].items():
            parts.append(f"{tier} stall time, ms: {_largest(kinds, NS_PER_MS)}")
    return "; ".join(parts)


def picture(progress_line: str, states: Sequence[State]) -> RenderableType:
    """Return the view for a terminal: the progress, and a table for each machine."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(progress_line)]
    for machine_state in states:
        parts.append(Text("\n" + machine_state.heading()))
        if machine_state.live:
            parts.append(_table(machine_state.live))
    return Group(*parts)


def _table(live: Mapping[str, Any]) -> Table:
    """Return a table of pages and stall time by page kind and tier."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    tiers = list(live["pages"])
    table.add_column("kind")
    for tier in tiers:
        table.add_column(f"{tier} pages", justify="right", min_width=12)
    for tier in tiers:
        table.add_column(f"{tier} stall, ms", justify="right", min_width=14)
    pages, stalls = live["pages"], live["stall_ns"]
    kinds = _by_stall_time(live)
    for row_kinds in [[kind] for kind in kinds[:TABLE_KINDS]] + [kinds[TABLE_KINDS:]]:
        if row_kinds:
            cells = [f"{_sum(pages[tier], row_kinds):,.0f}" for tier in tiers]
            cells += [f"{_sum(stalls[tier], row_kinds) / NS_PER_MS:,.1f}" for tier in tiers]
            name = row_kinds[0] if len(row_kinds) == 1 else f"{len(row_kinds)} others"
            table.add_row(name, *cells)
    return table


def _by_stall_time(live: Mapping[str, Any]) -> list[str]:
    """Return the page kinds of all tiers, by stall time, then by pages; the largest first."""
    totals: dict[str, tuple[float, float]] = {}
    for tier in live["pages"]:
        for kind in [*live["pages"][tier], *live["stall_ns"][tier]]:
            if kind != FREE:
                stall, pages = (
                    sum(table.get(kind, 0) for table in live[key].values())
                    for key in ("stall_ns", "pages")
                )
                totals[kind] = (stall, pages)
    return sorted(totals, key=lambda kind: totals[kind], reverse=True)


def _sum(table: Mapping[str, float], kinds: Sequence[str]) -> float:
    return sum(table.get(kind, 0) for kind in kinds)


def _largest(table: Mapping[str, float], unit: float) -> str:
    """Return the largest page kinds with their values in `unit`, and the sum of the others."""
    used = {kind: value for kind, value in table.items() if kind != FREE}
    kinds = sorted(used, key=lambda kind: used[kind], reverse=True)
    parts = [f"{kind} {used[kind] / unit:,.0f}" for kind in kinds[:LINE_KINDS]]
    others = kinds[LINE_KINDS:]
    if others:
        parts.append(f"{len(others)} others {_sum(used, others) / unit:,.0f}")
    return ", ".join(parts) or "none"
