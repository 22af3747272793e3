# SPDX-License-Identifier: GPL-2.0
"""The plot of a heat map, as in the DAOS paper's Figure 6, and its drawing on given axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kloc.base import plots
from kloc.heat import grid, kinds, layout, picture, scale
from kloc.heat.layout import Part
from kloc.heat.records import Record

ROWS, COLUMNS = 300, 500
"""The cells of the map: of all parts together, and of each."""

HEIGHT_MIN = 0.12
"""The least height of a part, as a fraction of that of all."""

COLORS, DARKEST = "inferno", 0.15
"""The colors, and where in them those of accesses begin: the darkest one is for no access."""

KIND_COLORS = dict(
    zip(
        kinds.KINDS,
        ("#0072b2", "#e69f00", "#f0e442", "#009e73", "#cc79a7", "#d9d9d9", "#707070"),
        strict=True,
    )
)
"""The colors of the kinds of pages, which color-blind people can tell apart (Okabe and Ito)."""

STRIP = (1.01, 0.0, 0.025, 1.0)
"""Where the strip with the kinds of pages is: left, bottom, width and height, in a map's units."""

MIB = 1 << 20


def plot(path: Path, record: Record, most: int) -> None:
    """Write the plot. `most` is how many parts of processes are shown.

    Raises KlocError if the file cannot be written. matplotlib must be installed.
    """
    table = grid.regions(record)
    parts = layout.parts(record, table, most)
    shape = {"figsize": (8, 5), "height_ratios": heights(parts), "sharex": True, "squeeze": False}
    with plots.drawn(path, len(parts), 1, **shape) as (figure, axes):
        figure.suptitle(f"{record.title}\n{picture.what(record)}", fontsize=10)
        image = draw(list(axes[:, 0]), record, table, parts)
        names = ", ".join(mark.name for mark in record.marks)
        axes[-1, 0].set_xlabel("time, s" + (f"; dashed line: {names}" if names else ""))
        _add_colors(figure, axes, image)
        if record.kinds:
            figure.legend(
                handles=kinds_legend(record),
                title="strip: kind of most pages at the end",
                loc="outside lower center",
                ncols=len(kinds.KINDS),
                fontsize=8,
                title_fontsize=8,
                frameon=False,
            )


def heights(parts: Sequence[Part]) -> list[float]:
    """Return the heights of the parts, the highest first: by size, but none too low to read."""
    whole = sum(part.size for part in parts)
    return [max(HEIGHT_MIN, part.size / whole) for part in reversed(parts)]


def draw(axes: Sequence[Any], record: Record, table: grid.Regions, parts: Sequence[Part]) -> Any:
    """Draw the parts, the highest addresses on the first axes; return one of the images.

    Its values are percentages, and its norm is the scale of scale.py.
    """
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, LogNorm

    shown = list(reversed(parts))
    rows = layout.rows([part.size for part in shown], ROWS)
    maps = [
        100 * grid.frequencies(record, table, part.target, (part.start, part.end), (count, COLUMNS))
        for part, count in zip(shown, rows, strict=True)
    ]
    top = max((float(np.nanmax(one)) for one in maps if not np.all(np.isnan(one))), default=0.0)
    least = (top or 1.0) / scale.RANGE
    accessed = ListedColormap(colormaps[COLORS](np.linspace(DARKEST, 1, 256)))
    colors = accessed.with_extremes(under=colormaps[COLORS](0.0))
    for axis, part, values in zip(axes, shown, maps, strict=True):
        # What was seen at all has the first color of accesses, and the rest the one under it.
        seen = np.where(values > 0, np.maximum(values, least), values + least / 2)
        image = axis.imshow(
            seen,
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            cmap=colors,
            norm=LogNorm(least, top or 1.0),
            extent=(0, record.seconds, 0, part.size / MIB),
        )
        axis.set_title(part.title(), fontsize=8, loc="left")
        axis.set_ylabel("MiB", fontsize=8)
        axis.locator_params(axis="y", nbins=4)
        axis.tick_params(labelsize=8)
        for mark in record.marks:
            axis.axvline(mark.time, color="white", linewidth=1.2)
            axis.axvline(mark.time, color="black", linewidth=0.8, linestyle="--")
        if record.kinds:
            _draw_kinds(axis, record, part, len(values))
    return image


def _add_colors(figure: Any, axes: Any, image: Any) -> None:
    """Add the legend of the colors, with the limits of the shades on a terminal."""
    bar = figure.colorbar(image, ax=axes, extend="min")
    bar.set_label(f"samples with an access, % ({scale.WORDS}; black: none)")
    ticks = scale.limits(image.norm.vmax, 4)
    bar.set_ticks(ticks, labels=[scale.digits(tick) for tick in ticks])
    bar.minorticks_off()


def kinds_legend(record: Record) -> list[Any]:
    """Return the handles of a legend that names the colors of the record's kinds of pages."""
    from matplotlib.patches import Patch

    return [Patch(color=KIND_COLORS[name], label=name) for name in kinds.shares(record.kinds)]


def _draw_kinds(axis: Any, record: Record, part: Part, rows: int) -> None:
    """Draw a strip at the right of a map, with the most frequent kind of pages of each row."""
    import numpy as np
    from matplotlib.colors import ListedColormap

    numbers = {name: number for number, name in enumerate(KIND_COLORS)}
    names = kinds.rows(record.kinds, (part.start, part.end), rows)
    strip = axis.inset_axes(STRIP)
    strip.imshow(
        np.array([[numbers.get(name, np.nan)] for name in names]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        cmap=ListedColormap(list(KIND_COLORS.values())),
        vmin=-0.5,
        vmax=len(KIND_COLORS) - 0.5,
    )
    strip.set_axis_off()
