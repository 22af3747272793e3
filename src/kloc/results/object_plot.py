# SPDX-License-Identifier: GPL-2.0
"""What the kernel's memory does: pages by kind, who refers to them, how long they live.

The KLOCs paper's Figure 2, of any workload, for a small and a large input. The
timing model counts (machine/plugin/observer.h says what exactly); here the
counts are brought under the names that people know, and percentiles are made
of the histograms.

What is counted where: journal is what jbd2's slabs hold, socket what socket
buffers hold, their slabs (skbuff_*) and their pages; every other slab cache is
a kind of its own. The blocks that the journal writes lie in the block device's
page cache (blockdev) or are pages of files. Whoever is still to be told from a
struct page is other.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kloc.base.errors import KlocError
from kloc.measure.object_use import GROUPS, REST, Uses, group, merged, spread
from kloc.results.object_table import duration

if TYPE_CHECKING:
    pass
PLOTS = (".svg", ".png")


def check_plot(path: Path) -> None:
    """Raise KlocError unless a plot can have this name."""
    if path.suffix not in PLOTS:
        raise KlocError(f"--plot {path}: a plot is {' or '.join(PLOTS)}, by the file's name")


def plot(path: Path, title: str, inputs: Mapping[str, Uses]) -> None:
    """Write the plot: shares of each input, lifetimes and intervals of the last, by group."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = {name: merged(of, {kind: group(kind) for kind in of}) for name, of in inputs.items()}
    names = [
        name
        for name in dict.fromkeys((*GROUPS.values(), REST))
        if any(name in of for of in groups.values())
    ]
    # Dates and random identifiers would make each file another.
    with matplotlib.rc_context({"svg.hashsalt": "kloc", "svg.fonttype": "none"}):
        figure, (shares, lifetimes, intervals) = pyplot.subplots(
            1, 3, figsize=(14, 4.8), width_ratios=(3, 2, 2), layout="constrained"
        )
        figure.suptitle(title)
        colours = {name: f"C{number}" for number, name in enumerate(names)}
        _plot_shares(shares, colours, groups)
        last, of = list(groups.items())[-1]
        _plot_spreads(lifetimes, f"lifetime of a page, {last} input", colours, of, "lifetimes")
        _plot_spreads(intervals, f"between references, {last} input", colours, of, "intervals")
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        try:
            figure.savefig(path, metadata=metadata, dpi=120)
        except OSError as error:
            raise KlocError(f"{path} cannot be written: {error.strerror}") from error
        finally:
            pyplot.close(figure)


def _plot_shares(axes: Any, colours: Mapping[str, str], groups: Mapping[str, Uses]) -> None:
    measures = {"allocated": "pages", "references": "references", "misses": "LLC misses"}
    bars = {
        f"{label}\n{name}": {each: getattr(use, measure) for each, use in of.items()}
        for measure, label in measures.items()
        for name, of in groups.items()
    }
    below = [0.0] * len(bars)
    for name, colour in colours.items():
        heights = [
            100 * counts.get(name, 0) / max(1, sum(counts.values())) for counts in bars.values()
        ]
        axes.bar(list(bars), heights, bottom=below, label=name, color=colour, width=0.75)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set_ylabel("%")
    axes.set_ylim(0, 100)
    axes.tick_params(axis="x", labelsize=8)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, reverse=True)


def _plot_spreads(
    axes: Any, title: str, colours: Mapping[str, str], of: Uses, measure: str
) -> None:
    """Draw p50 to p99 of each group as a line, with a mark at each percentile."""
    from matplotlib.ticker import LogLocator, NullFormatter

    shown = [name for name in colours if name in of and getattr(of[name], measure).total()]
    for place, name in enumerate(shown):
        # A logarithmic axis has no 0.
        values = [max(1.0, value or 0.0) for value in spread(getattr(of[name], measure)).values()]
        style = {"marker": "|", "markersize": 12, "linewidth": 3, "color": colours[name]}
        axes.plot(values, [place] * len(values), **style)
    axes.set_title(title, fontsize=10)
    axes.set_xscale("log")
    axes.set_xmargin(0.1)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(lambda value, _: duration(value))
    axes.tick_params(axis="x", labelsize=8)
    axes.set_ylim(max(1, len(shown)) - 0.5, -0.5)
    axes.set_yticks(range(len(shown)), shown)
    axes.set_xlabel("p50, p90, p99")
    axes.grid(axis="x", alpha=0.3)
