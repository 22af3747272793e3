# SPDX-License-Identifier: GPL-2.0
"""What a page is made of; templates/page.html says how each part looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kloc.results.report.figure import Figure, Table
from kloc.results.report.kinds import Group


@dataclass(frozen=True)
class Part:
    """A part of a whole in a card: what it is, how much as text, and its share from -1 to 1."""

    label: str
    value: str
    share: float


@dataclass(frozen=True)
class Card:
    """The answer for one case, to be read at a glance.

    It has no name and no headline where the page's own says it already.
    """

    name: str
    headline: str
    facts: Sequence[tuple[str, str]]
    """Figures, each with what it is of."""
    figure: Figure | None = None
    remarks: Sequence[str] = ()
    parts_title: str = ""
    parts: Sequence[Part] = ()


@dataclass(frozen=True)
class Cell:
    """One cell of the overview; the best of its row is marked, `share` (0 to 1) is a bar."""

    text: str
    share: float = 0.0
    best: bool = False


@dataclass(frozen=True)
class Overview:
    """One row a case, one column a policy."""

    caption: str
    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


@dataclass(frozen=True)
class Block:
    """Figures, tables or lines of a section that belong together, such as those of one case."""

    title: str = ""
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()
    code: str = ""
    folded: bool = False
    """Whether only the title shows until it is asked for."""
    beside: bool = False
    """Whether the tables stand beside the figures, where there is room."""


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own, and the legend that its figures share."""

    id: str
    title: str
    intro: str
    blocks: Sequence[Block]
    legend: Sequence[Group] = ()
    grid: bool = False
    """Whether its blocks stand side by side, where there is room."""
    tiers: bool = False
    """Whether the legend says what pale and full colours are."""


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    headline: str
    subtitle: str
    cards: Sequence[Card] = ()
    overview: Overview | None = None
    notes: Sequence[str] = ()
    sections: Sequence[Section] = field(default_factory=tuple)
