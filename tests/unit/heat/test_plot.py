# SPDX-License-Identifier: GPL-2.0
"""The plot of a heat map."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.heat import grid, layout, plot
from kloc.heat.layout import Part
from kloc.heat.records import Mark, Record, Snapshot
from support import made_up_heat
from support.made_up_heat import MIB


@pytest.mark.parametrize(
    "record",
    [
        made_up_heat.record(marks=(Mark(4.0, "measured"),)),
        made_up_heat.physical(),
        made_up_heat.with_kinds(),
    ],
    ids=["process", "physical", "kinds"],
)
def test_a_plot_is_the_same_each_time_and_names_its_parts(record: Record, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.svg", "b.svg", "a.png")]
    for path in paths:
        plot.plot(path, record, 3)
    text = paths[0].read_text()
    assert text == paths[1].read_text()
    assert record.title in text and "samples with an access, % (logarithmic; black: none)" in text
    assert ("measured" in text) == bool(record.marks)
    for name in ("anonymous", "slab", "page tables", "free"):
        assert (f">{name}<" in text) == bool(record.kinds)
    for name in ("node 0, fast", "node 1, slow") if record.physical else ("made-up 12 1000000",):
        assert name in text
    assert paths[2].read_bytes().startswith(b"\x89PNG")


def test_the_highest_addresses_are_above_and_no_part_is_too_low() -> None:
    parts = [Part(0, 0, 1000, "large"), Part(0, 5000, 5001, "small")]
    small, large = plot.heights(parts)
    assert small == plot.HEIGHT_MIN and large > 0.9


def test_what_was_seen_at_all_is_not_drawn_as_no_access() -> None:
    from matplotlib.figure import Figure

    rare = tuple(
        Snapshot(
            second + 1.0,
            None,
            ((0, 16 * MIB, 20), (16 * MIB, 40 * MIB, 0), (40 * MIB, 64 * MIB, second == 7)),
        )
        for second in range(8)
    )
    record = made_up_heat.physical(snapshots=rare)
    table = grid.regions(record)
    parts = layout.parts(record, table, 3)
    axes = Figure().subplots(len(parts))
    plot.draw(axes, record, table, parts)
    image = axes[0].images[0]
    values = image.get_array()
    assert image.norm.vmax == pytest.approx(100)
    colors = {
        tuple(image.cmap(image.norm(value))) for value in (values.min(), 100, image.norm.vmin)
    }
    assert len(colors) == 3
    assert values.min() < image.norm.vmin
