# SPDX-License-Identifier: GPL-2.0
"""A heat map on the terminal: time to the right, addresses upward, frequency as color or shade."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from kloc.base.words import plural
from kloc.heat import grid, kinds, layout, scale
from kloc.heat.layout import Part
from kloc.heat.records import Record

ROWS = 24
"""The rows of all parts together, about."""

COLUMNS_MAX = 120

SHADES = "·░▒▓█"
"""Not accessed, and up to the limits of `scale.limits`."""

COLORS = (
    *((31, 12, 72), (85, 15, 109), (136, 34, 106), (186, 54, 85)),
    *((227, 89, 51), (249, 140, 10), (249, 201, 50), (252, 255, 164)),
)
"""Colors from not accessed to the highest frequency, red, green and blue: matplotlib's inferno."""

LABELED = 3
"""The legend names the limit of the first color, and of every third one after it."""

HALF = "▀"
"""A cell with two rows: its color is the upper one, its background the lower one."""

LABEL = 13
"""The columns of the addresses at the left."""

UNBROKEN = "\N{NO-BREAK SPACE}"

LETTER = 2
"""The columns of the kinds of pages at the right, with a blank."""


def lines(record: Record, most: int, console: Console) -> list[Text]:
    """Return the map in lines that fit the console, in color if that is a terminal.

    `most` is how many parts of processes are shown.
    """
    colored = console.is_terminal and console.color_system is not None
    letters = LETTER if record.kinds else 0
    columns = max(10, min(COLUMNS_MAX, console.width - LABEL - 1 - letters))
    table = grid.regions(record)
    parts = layout.parts(record, table, most)
    heights = layout.rows([part.size for part in parts], ROWS)
    maps = [
        grid.frequencies(
            record,
            table,
            part.target,
            (part.start, part.end),
            (height * (2 if colored else 1), columns),
        )
        for part, height in zip(parts, heights, strict=True)
    ]
    top = max((float(np.nanmax(one)) for one in maps if not np.all(np.isnan(one))), default=0.0)
    found = [Text(f"{record.title}: {what(record)}")]
    # The highest addresses are at the top.
    for number in reversed(range(len(parts))):
        found.append(Text(f"{'':{LABEL}}{parts[number].title()}"))
        rows = _rows(parts[number], maps[number], top, colored)
        found += _with_letters(rows, record, parts[number]) if record.kinds else rows
        if number and (gap := _gap(parts[number - 1], parts[number])):
            found.append(Text(f"{'⋮':>{LABEL - 1}} {gap}", style="dim"))
    found += [*_axis(record, columns), _legend(top, colored)]
    if record.kinds:
        found += _kinds_legend(record, console.width)
    found += remarks(record, parts)
    return found


def what(record: Record) -> str:
    """Return how the record was made, in words."""
    attributes = record.attributes
    return (
        f"{record.seconds:.3g} s, Linux {record.kernel}, sampling {attributes.sampling_us / 1000:g}"
        f" ms, aggregation {attributes.aggregation_us / 1000:g} ms"
    )


def remarks(record: Record, parts: Sequence[Part]) -> list[Text]:
    """Return what to know about a map, in lines."""
    found = []
    if record.lost:
        found.append(
            f"{plural(record.lost, 'snapshot')} of {len(record.snapshots) + record.lost} lost: "
            "the trace's buffer was full"
        )
    if hidden := set(range(len(record.processes))) - {part.target for part in parts}:
        names = ", ".join(
            f"{one.name} {one.pid}" for one in map(record.processes.__getitem__, sorted(hidden))
        )
        found.append(f"not shown: {names} (--parts shows more)")
    return [Text(line) for line in found]


def _rows(part: Part, values: grid.Array, top: float, colored: bool) -> list[Text]:
    """Return the rows of a part, with the address of the first byte of its last row."""
    step = 2 if colored else 1
    found = []
    for row in range(len(values) - 1, -1, -step):
        address = f"{part.start:x}" if row < step else ""
        line = Text(f"{address:>{LABEL - 1}} ")
        pairs = zip(values[row], values[row - step + 1], strict=True)
        for upper, lower in pairs:
            line.append(*(_cell(upper, lower, top) if colored else (_shade(upper, top),)))
        found.append(line)
    return found


def _with_letters(lines: Sequence[Text], record: Record, part: Part) -> list[Text]:
    """Return the lines of a part, the highest first, with the letters of their kinds of pages."""
    names = kinds.rows(record.kinds, (part.start, part.end), len(lines))
    return [
        line.append(f" {kinds.KINDS[name] if name else ''}")
        for line, name in zip(lines, reversed(names), strict=True)
    ]


def _shade(value: float, top: float) -> str:
    """Return the character for a frequency; what was seen at all is not shown as 0."""
    if np.isnan(value):
        return " "
    return SHADES[scale.shade(value, top, len(SHADES) - 1)]


def _cell(upper: float, lower: float, top: float) -> tuple[str, Style]:
    """Return the character and the colors for two frequencies above each other."""
    if np.isnan(upper) and np.isnan(lower):
        return " ", Style()
    if np.isnan(upper):
        return "▄", Style(color=_color(lower, top))
    background = None if np.isnan(lower) else _color(lower, top)
    return HALF, Style(color=_color(upper, top), bgcolor=background)


def _color(value: float, top: float) -> Color:
    return Color.from_rgb(*COLORS[scale.shade(value, top, len(COLORS) - 1)])


def _gap(lower: Part, upper: Part) -> str:
    """Return what is cut out between two parts, "" if nothing is."""
    if lower.target != upper.target or upper.start <= lower.end:
        return ""
    return f"{layout.size_text(upper.start - lower.end)} not shown"


def _axis(record: Record, columns: int) -> list[Text]:
    """Return the axis of time, and a line for the marks if there are any."""
    first, last = "0 s", f"{record.seconds:.3g} s"
    found = [Text(f"{'':{LABEL}}{first}{last:>{columns - len(first)}}")]
    for mark in record.marks:
        at = min(columns - 1, int(columns * mark.time / record.seconds))
        found.append(Text(f"{'':{LABEL}}{'':{at}}↑ {mark.name}", no_wrap=True))
    return found


def _legend(top: float, colored: bool) -> Text:
    """Return the meaning of colors or shades: the share of samples with an access, in percent."""
    # It fits into 80 columns.
    text = Text("% of samples with access, log scale: ")
    if not colored:
        text.append(f"{SHADES[0]} none")
        for shade, limit in zip(SHADES[1:], scale.limits(top, len(SHADES) - 1), strict=True):
            text.append(f" {shade} to {scale.digits(100 * limit)}")
        return text
    ends = scale.limits(top, len(COLORS) - 1)
    for number, color in enumerate(COLORS):
        text.append("█", Style(color=Color.from_rgb(*color)))
        if not number:
            text.append(" none ")
        elif number % LABELED == 1:
            text.append(f" to {scale.digits(100 * ends[number - 1])} ")
    return text


def _kinds_legend(record: Record, width: int) -> list[Text]:
    """Return the meaning of the letters, with each kind's share of all pages."""
    meanings = ", ".join(
        f"{kinds.KINDS[name]} {name} {_percent(share)}".replace(" ", UNBROKEN)
        for name, share in kinds.shares(record.kinds).items()
    )
    text = f"kind of most pages at the end, and share of all: {meanings}"
    return [Text(line.replace(UNBROKEN, " ")) for line in textwrap.wrap(text, width)]


def _percent(share: float) -> str:
    """Return a share as a percentage with up to two digits."""
    return f"{scale.digits(100 * share)} %"
