# SPDX-License-Identifier: GPL-2.0
"""The plot of `kloc objects`: the KLOCs paper's Figure 2 for one workload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kloc.base import plots
from kloc.measure.object_use import GROUPS, OTHER, Uses, group, merged, spread
from kloc.results.object_table import duration


def plot(path: Path, title: str, inputs: Mapping[str, Uses]) -> None:
    """Write the plot: shares of each input, and lifetimes and intervals of the last one.

    Page kinds are shown in groups. Raises KlocError if the file cannot be written.
    """
    groups = {
        name: merged(kinds, {kind: group(kind) for kind in kinds}) for name, kinds in inputs.items()
    }
    names = [
        name
        for name in dict.fromkeys((*GROUPS.values(), OTHER))
        if any(name in uses for uses in groups.values())
    ]
    size = {"figsize": (14, 4.8), "width_ratios": (3, 2, 2)}
    with plots.drawn(path, 1, 3, **size) as (figure, (shares, lifetimes, intervals)):
        figure.suptitle(title)
        colors = {name: f"C{number}" for number, name in enumerate(names)}
        _plot_shares(shares, colors, groups)
        last, uses = list(groups.items())[-1]
        _plot_spreads(lifetimes, f"lifetime of a page, {last} input", colors, uses, "lifetimes")
        _plot_spreads(
            intervals, f"time between references, {last} input", colors, uses, "intervals"
        )


def _plot_shares(axes: Any, colors: Mapping[str, str], groups: Mapping[str, Uses]) -> None:
    """Draw a stacked bar for each measure and input."""
    measures = {"allocated": "pages", "references": "references", "misses": "LLC misses"}
    bars = {
        f"{label}\n{name}": {group: getattr(use, measure) for group, use in uses.items()}
        for measure, label in measures.items()
        for name, uses in groups.items()
    }
    bottoms = [0.0] * len(bars)
    for name, color in colors.items():
        heights = [
            100 * counts.get(name, 0) / max(1, sum(counts.values())) for counts in bars.values()
        ]
        axes.bar(list(bars), heights, bottom=bottoms, label=name, color=color, width=0.75)
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    axes.set_ylabel("%")
    axes.set_ylim(0, 100)
    axes.tick_params(axis="x", labelsize=8)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, reverse=True)


def _plot_spreads(
    axes: Any, title: str, colors: Mapping[str, str], uses: Uses, measure: str
) -> None:
    """Draw a line from p50 to p99 for each group, with a mark at each percentile."""
    from matplotlib.ticker import LogLocator, NullFormatter

    shown = [name for name in colors if name in uses and getattr(uses[name], measure).total()]
    for row, name in enumerate(shown):
        # A logarithmic axis has no 0.
        values = [max(1.0, value or 0.0) for value in spread(getattr(uses[name], measure)).values()]
        style = {"marker": "|", "markersize": 12, "linewidth": 3, "color": colors[name]}
        axes.plot(values, [row] * len(values), **style)
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
