# SPDX-License-Identifier: GPL-2.0
"""The plot of `kloc tune`: samples and the estimated curve, as in the DAOS paper's Figure 5."""

from __future__ import annotations

from pathlib import Path

from kloc.base import plots
from kloc.tune.tuner import Result


def plot(path: Path, title: str, axis: str, scale: float, result: Result) -> None:
    """Write the plot; values are divided by `scale`, in the unit that `axis` names.

    Raises KlocError if the file cannot be written. matplotlib must be installed.
    """
    with plots.drawn(path, figsize=(7, 4.2)) as (_, axes):
        values = [(sample.value or 0.0) / scale for sample in result.samples]
        axes.plot(values, [sample.score for sample in result.samples], "o", label="measured")
        xs, ys = zip(*result.best.curve, strict=True)
        axes.plot([x / scale for x in xs], ys, label="estimated")
        axes.axvline(result.best.value / scale, color="C2", linestyle="--", label="best")
        untuned = (result.untuned.value or 0.0) / scale
        axes.plot([untuned], [result.untuned.score], "s", color="C3", label="untuned")
        axes.axhline(result.none.score, color="gray", linewidth=1, label="no scheme")
        axes.set(title=title, xlabel=axis, ylabel="score")
        axes.legend(frameon=False)
