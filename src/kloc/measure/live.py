# SPDX-License-Identifier: GPL-2.0
"""A view of machines while they run: where they are, their pages, migrations and stalls so far.

On a terminal it is redrawn in place; elsewhere a line is printed for each machine now and then.
What is shown is what the timing model leaves in a file while a region is measured (see
machine/plugin/live.h); looking at it changes nothing in the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kloc.base import progress, terminal
from kloc.machine.launcher import Machine

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


REDRAW_SECONDS = 0.5
LINE_SECONDS = 3.0
ROWS = 8
NAMED = 3
"""The kinds of pages that have a row of their own, or are named in a line."""

MS = 1e6


@dataclass(frozen=True)
class State:
    """How far one machine is; `live` is what the model says of the region, once it began.

    It has `promoted` and `demoted`, in pages, and by tier and kind `pages` and `stall_ns`.
    """

    title: str
    stage: str
    seconds: float
    live: Mapping[str, Any] | None

    def heading(self) -> str:
        """Return title, stage, time and migrations as text."""
        text = f"{self.title}: {self.stage}, {self.seconds:.3f} s of the machine's time"
        if self.live:
            text += f", promoted {self.live['promoted']:,}, demoted {self.live['demoted']:,} pages"
        return text


class Watch:
    """Work that is watched: its progress, and the machines that do it."""

    def __init__(self, bar: progress.Progress) -> None:
        """Show nothing but `bar`."""
        self.bar = bar

    def show(self, running: Mapping[str, Machine]) -> None:
        """Look at the machines under way, by title."""


class _Followed(Watch):
    """Draws what is known of each machine, as often as `seconds` says."""

    def __init__(self, bar: progress.Progress, seconds: float) -> None:
        super().__init__(bar)
        self._seconds = seconds
        self._next = 0.0

    def show(self, running: Mapping[str, Machine]) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._seconds
        self.draw([state(title, one) for title, one in running.items()])

    def draw(self, states: list[State]) -> None:
        for each in states:
            terminal.say(f"{line(each)}; in all {self.bar.share()}")


class _OnTerminal(_Followed):
    def __init__(self, bar: progress.Progress, redraw: progress.Redraw) -> None:
        super().__init__(bar, REDRAW_SECONDS)
        self._redraw = redraw

    def draw(self, states: list[State]) -> None:
        self._redraw(picture(self.bar.line(), states))


@contextmanager
def watching(description: str, total: float | None, followed: bool) -> Iterator[Watch]:
    """Show how far the block's work is, and if it is `followed` what its machines have come to.

    `description` and `total` are those of ui.progress.
    """
    if not followed:
        with progress.shown(description, total) as bar:
            yield Watch(bar)
    elif terminal.stderr().is_terminal:
        with progress.redrawn() as redraw:
            yield _OnTerminal(progress.Progress(description, total), redraw)
    else:
        yield _Followed(progress.Progress(description, total), LINE_SECONDS)


def state(title: str, machine: Machine) -> State:
    """Return how far a machine is."""
    return State(title, machine.stage, machine.seconds, machine.live())


def line(state: State) -> str:
    """Return all of it in one line, the largest kinds first."""
    if not state.live:
        return state.heading()
    parts = [state.heading()]
    for tier, kinds in state.live["pages"].items():
        parts.append(f"{tier} pages: {_largest(kinds, 1)}")
    for tier, kinds in state.live["stall_ns"].items():
        parts.append(f"{tier} stalls, ms: {_largest(kinds, MS)}")
    return "; ".join(parts)


def picture(progress: str, states: list[State]) -> RenderableType:
    """Return what a terminal shows: the progress, and a table for each machine."""
    from rich.console import Group
    from rich.text import Text

    shown: list[RenderableType] = [Text(progress)]
    for each in states:
        shown.append(Text("\n" + each.heading()))
        if each.live:
            shown.append(_table(each.live))
    return Group(*shown)


def _table(live: Mapping[str, Any]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    tiers = list(live["pages"])
    table.add_column("kind")
    for tier in tiers:
        table.add_column(f"{tier}, pages", justify="right", min_width=12)
    for tier in tiers:
        table.add_column(f"{tier}, stall ms", justify="right", min_width=14)
    pages, stalls = live["pages"], live["stall_ns"]
    kinds = _ordered(live)
    for shown in [[kind] for kind in kinds[:ROWS]] + [kinds[ROWS:]]:
        if shown:
            cells = [f"{_sum(pages[tier], shown):,.0f}" for tier in tiers]
            cells += [f"{_sum(stalls[tier], shown) / MS:,.1f}" for tier in tiers]
            table.add_row(shown[0] if len(shown) == 1 else f"{len(shown)} others", *cells)
    return table


def _ordered(live: Mapping[str, Any]) -> list[str]:
    """Return the kinds, those with the most stalls first; free pages are no kind of use."""
    totals: dict[str, tuple[float, float]] = {}
    for tier in live["pages"]:
        for kind in [*live["pages"][tier], *live["stall_ns"][tier]]:
            if kind != "free":
                stall, pages = (
                    sum(table.get(kind, 0) for table in live[key].values())
                    for key in ("stall_ns", "pages")
                )
                totals[kind] = (stall, pages)
    return sorted(totals, key=lambda kind: totals[kind], reverse=True)


def _sum(table: Mapping[str, float], kinds: list[str]) -> float:
    return sum(table.get(kind, 0) for kind in kinds)


def _largest(table: Mapping[str, float], unit: float) -> str:
    of_use = {kind: value for kind, value in table.items() if kind != "free"}
    kinds = sorted(of_use, key=lambda kind: of_use[kind], reverse=True)
    said = [f"{kind} {of_use[kind] / unit:,.0f}" for kind in kinds[:NAMED]]
    rest = kinds[NAMED:]
    if rest:
        said.append(f"{len(rest)} others {_sum(of_use, rest) / unit:,.0f}")
    return ", ".join(said) or "none"
