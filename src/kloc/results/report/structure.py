# SPDX-License-Identifier: GPL-2.0
"""The parts of a page; templates/page.html renders them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kloc.results.report.figure import Figure, Table
from kloc.results.report.kinds import Group


@dataclass(frozen=True)
class Part:
    """A row in a card's list of parts, with a bar: `share`, from -1 to 1, is its length."""

    label: str
    value: str
    share: float


@dataclass(frozen=True)
class Card:
    """The main results of one case.

    Name and headline are empty on a page with one case, whose own headline says the same.
    """

    name: str
    headline: str
    facts: Sequence[tuple[str, str]]
    """Figures, each with its unit or label."""
    figure: Figure | None = None
    remarks: Sequence[str] = ()
    parts_title: str = ""
    parts: Sequence[Part] = ()
    parts_note: str = ""
    """What the signs and colors of the parts mean."""


@dataclass(frozen=True)
class Cell:
    """A cell of the overview, with a bar of length `share` (0 to 1); `best` highlights it."""

    text: str
    share: float = 0.0
    best: bool = False


@dataclass(frozen=True)
class Overview:
    """A table with a row for each case and a column for each policy."""

    caption: str
    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


@dataclass(frozen=True)
class Block:
    """Figures, tables and lines of a section that belong together, such as those of one case."""

    title: str = ""
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()
    code: str = ""
    folded: bool = False
    """Show only the title until the reader opens it."""
    side_by_side: bool = False
    """Place the tables next to the figures if the window is wide enough."""


@dataclass(frozen=True)
class Section:
    """A section with a heading, an introduction, and the legend that its figures share."""

    id: str
    title: str
    intro: str
    blocks: Sequence[Block]
    legend: Sequence[Group] = ()
    grid: bool = False
    """Place the blocks next to each other if the window is wide enough."""
    tiers: bool = False
    """Explain pale and full colors in the legend."""


@dataclass(frozen=True)
class Page:
    """A report."""

    title: str
    headline: str
    subtitle: str
    cards: Sequence[Card] = ()
    overview: Overview | None = None
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()
