# SPDX-License-Identifier: GPL-2.0
"""The section of a report with heat maps, which `kloc heatmap --json` has recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kloc.heat import grid, layout, plot
from kloc.heat.layout import Part
from kloc.heat.records import Record
from kloc.results.report import formats
from kloc.results.report.figure import Figure, Table, drawing
from kloc.results.report.structure import Block, Section

PARTS = 3
"""How many parts of processes are shown."""

HEIGHT = 260
"""The height of the parts of a map together, in pixels."""

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
        "gaps between parts left out. A dashed line is the beginning of the measured region."
    )
    blocks = [Block(figures=[_figure(record) for record in records])]
    return Section("heat", "Access frequencies", intro, blocks)


def _figure(record: Record) -> Figure:
    table = grid.regions(record)
    parts = layout.parts(record, table, PARTS)
    title = f"{record.title}: access frequencies by address and time"
    height = HEIGHT + TITLE * len(parts) + 66
    with drawing(title, height, rows=len(parts), left=60) as sheet:
        grid_spec = sheet.axes[0].get_gridspec()
        assert grid_spec is not None
        grid_spec.set_height_ratios(plot.heights(parts))
        sheet.plot.subplots_adjust(hspace=TITLE * len(parts) / HEIGHT)
        image = plot.draw(sheet.axes, record, table, parts)
        most = formats.percent(image.norm.vmax / 100)
        sheet.axes[-1].set_xlabel(f"s; black: no access, yellow: in {most} of samples", fontsize=10)
    return Figure(title, sheet.svg, _numbers(record, table, parts), caption=record.title)


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
    return Table(["part", "mean frequency", "without access"], rows)
