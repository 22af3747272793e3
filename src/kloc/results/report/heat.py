# SPDX-License-Identifier: GPL-2.0
"""The section of a report with heat maps, which `kloc heatmap --json` has recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kloc.heat import grid, kinds, layout, plot, scale
from kloc.heat.layout import Part
from kloc.heat.records import Record
from kloc.results.report import formats
from kloc.results.report.figure import WIDTH, Figure, Sheet, Table, drawing
from kloc.results.report.structure import Block, Section

PARTS = 3
"""How many parts of processes are shown."""

HEIGHT = 260
"""The height of the parts of a map together, in pixels."""

LEGEND = 40
"""The height of the legend of the kinds of pages, in pixels."""

STRIP = 14
"""The width that the strip with the kinds of pages adds at the right, in pixels."""

TITLE = 26
"""The height of the title of a part, in pixels."""

SLICES = 256
"""Into so many parts of equal size the table divides a part, to tell which are not accessed."""


def section(records: Sequence[Record]) -> Section | None:
    """Return the section; None without records."""
    if not records:
        return None
    intro = (
        "Which memory was accessed when, as DAMON saw it in runs of their own: addresses upward, "
        "gaps between parts left out. A dashed line is the beginning of the measured region. "
        f"Colors are {scale.WORDS}, from violet over red to yellow: each step is a frequency that "
        "is higher by the same factor. Black is no access."
    )
    if any(record.kinds for record in records):
        intro += " The strip beside a map has the kind of most pages at the end of the recording."
    blocks = [Block(figures=[_figure(record) for record in records])]
    return Section("heat", "Access frequencies", intro, blocks)


def _figure(record: Record) -> Figure:
    table = grid.regions(record)
    parts = layout.parts(record, table, PARTS)
    title = f"{record.title}: access frequencies by address and time"
    height = HEIGHT + TITLE * len(parts) + 66 + (LEGEND if record.kinds else 0)
    with drawing(title, height, rows=len(parts), left=60) as sheet:
        grid_spec = sheet.axes[0].get_gridspec()
        assert grid_spec is not None
        grid_spec.set_height_ratios(plot.heights(parts))
        sheet.plot.subplots_adjust(hspace=TITLE * len(parts) / HEIGHT)
        image = plot.draw(sheet.axes, record, table, parts)
        sheet.axes[-1].set_xlabel(_colors(image), fontsize=10)
        if record.kinds:
            _add_legend(sheet, record, height)
    return Figure(title, sheet.svg, _numbers(record, table, parts), caption=record.title)


def _colors(image: Any) -> str:
    """Return the label of a map's axis of time, which says what its colors mean."""
    least, most = (f"{scale.digits(end)} %" for end in (image.norm.vmin, image.norm.vmax))
    return f"s; black: none; violet {least}, yellow {most} of samples"


def _add_legend(sheet: Sheet, record: Record, height: int) -> None:
    """Make room for the strip with the kinds of pages, and name its colors below the map."""
    usual = sheet.plot.subplotpars
    sheet.plot.subplots_adjust(
        right=usual.right - STRIP / WIDTH, bottom=usual.bottom + LEGEND / height
    )
    sheet.plot.legend(
        handles=plot.kinds_legend(record),
        loc="lower center",
        ncols=4,
        fontsize=10,
        frameon=False,
        handlelength=1,
    )


def _numbers(record: Record, table: grid.Regions, parts: Sequence[Part]) -> Table:
    """Return the mean frequency of each part, and how much of it had no access."""
    rows = []
    for part in reversed(parts):
        ends = (part.start, part.end)
        means = grid.frequencies(record, table, part.target, ends, (SLICES, 1))[:, 0]
        known = means[~np.isnan(means)]
        idle = float((known == 0).mean()) if len(known) else 0.0
        mean = float(known.mean()) if len(known) else 0.0
        rows.append(
            [part.title(), formats.percent(mean), formats.percent(idle)],
        )
        if record.kinds:
            rows[-1].append(_pages(record, part))
    head = ["part", "mean frequency", "without access", *(["pages"] if record.kinds else [])]
    return Table(head, rows)


def _pages(record: Record, part: Part) -> str:
    """Return the share of each kind in the pages of a part, the largest first."""
    shares = kinds.shares(record.kinds, (part.start, part.end))
    names = sorted(shares, key=shares.__getitem__, reverse=True)
    return ", ".join(f"{name} {formats.percent(shares[name])}" for name in names)
