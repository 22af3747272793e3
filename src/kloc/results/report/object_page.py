# SPDX-License-Identifier: GPL-2.0
"""The page of a report on `kloc objects`: the KLOCs paper's Figure 2 for one workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kloc.results.report import context, formats, kinds, reproduction
from kloc.results.report.figure import COLORS, Figure, Table, drawing, short
from kloc.results.report.kinds import Group
from kloc.results.report.structure import Block, Card, Page, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Uses = Mapping[str, Mapping[str, Any]]
"""The use of pages by page kind, in one input of a document."""

MEASURES = {
    "pages_allocated": "pages allocated",
    "references": "memory references",
    "misses": "last-level cache misses",
}
PERCENTILES = ("p50", "p90", "p99")

ROWS_MAX = 16
"""Kinds in a figure of durations; the table has all of them."""

ROW = 26
"""Height of a bar with its margin, in pixels."""

PALE = ("orange", "yellow", "purple", "grey")
"""Colors on which only dark text is legible."""

LABEL_MIN = 0.07
"""The smallest part of a bar that its number fits into."""


def page(document: Mapping[str, Any]) -> Page:
    """Return the report on a document of `kloc objects`."""
    inputs: Mapping[str, Uses] = {name: uses or {} for name, uses in document["inputs"].items()}
    workload = str(document["workload"])
    share = _kernel_share(list(inputs.values())[-1], "pages_allocated")
    title = f"{workload}: pages and their use"
    if share is not None:
        title = f"{workload}: {formats.percent(share)} of the allocated pages are the kernel's"
    command = reproduction.command(
        "objects",
        workload,
        str(document["machine"]["name"]),
        str(document.get("variant", "")),
        int(document.get("seed", 1)),
    )
    sections = [
        _shares(workload, inputs),
        _times(workload, inputs),
        context.machine(document),
        context.versions(document),
        reproduction.section([command]),
    ]
    subtitle = f"Kernel objects and application pages · {formats.listed(list(inputs))} input"
    return Page(
        title=f"kloc: {title}",
        headline=title,
        subtitle=subtitle + ("s" if len(inputs) > 1 else ""),
        cards=[_card(name, uses) for name, uses in inputs.items()],
        sections=[section for section in sections if section],
    )


def _card(name: str, uses: Uses) -> Card:
    """Return the card of an input: the kernel's shares, and median times."""
    facts = []
    for measure, label in MEASURES.items():
        share = _kernel_share(uses, measure)
        if share is not None:
            facts.append((formats.percent(share), f"of {label}"))
    remarks = []
    for key, figure in (("lifetime_ns", "lifetime"), ("interval_ns", "time between uses")):
        medians = [
            f"{label} {formats.nanoseconds(median)}"
            for label, median in _medians(uses, key)
            if median is not None
        ]
        if medians:
            remarks.append(f"Median {figure} of a page: {', '.join(medians)}.")
    pages = formats.count(sum(_values(uses, "pages_allocated").values()))
    return Card(
        name=f"{name} input, {pages} pages allocated",
        headline="The kernel's share",
        facts=facts,
        remarks=remarks,
    )


def _medians(uses: Uses, key: str) -> list[tuple[str, float | None]]:
    """Return the median of the largest kind of the application, of page cache and of slab."""
    medians = []
    for group in (kinds.APPLICATION, kinds.PAGE_CACHE, kinds.SLAB):
        candidates = [kind for kind in uses if kinds.group(kind) == group and uses[kind].get(key)]
        if candidates:
            largest = max(candidates, key=lambda kind: uses[kind].get("pages_allocated") or 0)
            slab_cache = largest.partition(":")[2]
            label = f"{group.label} ({slab_cache})" if slab_cache else group.label
            medians.append((label, uses[largest][key].get("p50")))
    return medians


def _kernel_share(uses: Uses, measure: str) -> float | None:
    values = _values(uses, measure)
    whole = sum(values.values())
    if not whole:
        return None
    application = sum(
        value for kind, value in values.items() if kinds.group(kind) == kinds.APPLICATION
    )
    return 1 - application / whole


def _values(uses: Uses, measure: str) -> dict[str, float]:
    """Return a measure by page kind, without kinds that do not have it."""
    return {kind: use[measure] for kind, use in uses.items() if use.get(measure) is not None}


def _shares(workload: str, inputs: Mapping[str, Uses]) -> Section | None:
    title = f"{workload}: pages, references and misses by kind, for each input"
    bars = [
        (measure, name, kinds.by_group(_values(uses, measure)))
        for measure in MEASURES
        for name, uses in inputs.items()
    ]
    bars = [bar for bar in bars if sum(bar[2].values())]
    if not bars:
        return None
    groups = [group for group in kinds.PAGES if any(bar[2].get(group) for bar in bars)]
    measures = list(dict.fromkeys(measure for measure, _, _ in bars))
    height = 62 + len(bars) * ROW + 24 * len(measures)
    with drawing(title, height, left=64) as sheet:
        axes = sheet.axes[0]
        rows = _share_bars(axes, bars, groups)
        axes.set_yticks(list(rows), [short(name) for _, name, _ in bars])
        axes.set_ylim(max(rows, default=0) + 0.55, -1.4)
        axes.set_xlim(0, 1)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
        axes.set_xlabel("share, %")
    all_kinds = list(dict.fromkeys(kind for uses in inputs.values() for kind in uses))
    columns = [(measure, name) for measure in MEASURES for name in inputs]
    head = ["kind", *(f"{measure.partition('_')[0]}, {name}" for measure, name in columns)]
    table_rows = [
        [kind, *(_share(inputs[name], kind, measure) for measure, name in columns)]
        for kind in sorted(all_kinds, key=lambda kind: -_most_pages(inputs, kind))
    ]
    block = Block(
        figures=[Figure(title, sheet.svg)], tables=[Table(head, table_rows)], side_by_side=True
    )
    intro = "A page that is freed and allocated again counts twice."
    return Section("shares", "Pages, references, misses", intro, [block], legend=groups)


def _share_bars(
    axes: Axes,
    bars: Sequence[tuple[str, str, Mapping[Group, float]]],
    groups: Sequence[Group],
) -> list[float]:
    """Draw a stacked bar for each measure and input, and return their vertical positions."""
    rows: list[float] = []
    row, previous = -1.0, ""
    for measure, _, by_group in bars:
        row += 1.0 if measure == previous else 1.9 if previous else 1.0
        if measure != previous:
            axes.annotate(
                MEASURES[measure],
                (0, row - 0.45),
                (0, 3),
                textcoords="offset points",
                fontweight="bold",
            )
        whole, start = sum(by_group.values()), 0.0
        for group in groups:
            share = by_group.get(group, 0.0) / whole
            axes.barh(row, share, 0.62, left=start, color=COLORS[group.color])
            if share >= LABEL_MIN:
                axes.text(
                    start + share / 2,
                    row,
                    f"{100 * share:.0f}",
                    ha="center",
                    va="center",
                    fontsize=11,
                    color=COLORS["dark" if group.color in PALE else "paper"],
                )
            start += share
        rows.append(row)
        previous = measure
    return rows


def _share(uses: Uses, kind: str, measure: str) -> str:
    """Return a kind's share of a measure, for pages after their number; "" if it has none."""
    value = uses.get(kind, {}).get(measure)
    if value is None:
        return ""
    whole = sum(_values(uses, measure).values())
    share = f"{100 * value / whole:.2f} %" if whole else ""
    return f"{formats.count(value)} ({share})" if measure == "pages_allocated" else share


def _most_pages(inputs: Mapping[str, Uses], kind: str) -> float:
    return max((uses.get(kind, {}).get("pages_allocated") or 0) for uses in inputs.values())


def _times(workload: str, inputs: Mapping[str, Uses]) -> Section | None:
    captions = {
        "lifetime_ns": "Lifetime of a page: from allocation to release",
        "interval_ns": "Time between uses of a page: from one reference to the next",
    }
    all_figures = [_durations(workload, inputs, key, text) for key, text in captions.items()]
    figures = [figure for figure in all_figures if figure]
    if not figures:
        return None
    intro = f"The {ROWS_MAX} kinds with the most pages."
    if len(inputs) > 1:
        intro += f" The lines of a kind, from top to bottom: {formats.listed(list(inputs))} input."
    block = Block(figures=figures)
    return Section("times", "Lifetimes and intervals", intro, [block], legend=kinds.PAGES)


def _durations(workload: str, inputs: Mapping[str, Uses], key: str, caption: str) -> Figure | None:
    """Return the figure of a duration's percentiles by kind; None if no kind has any."""
    timed = list(
        dict.fromkeys(
            kind
            for uses in inputs.values()
            for kind, use in uses.items()
            if (use.get(key) or {}).get("p50") is not None
        )
    )
    if not timed:
        return None
    timed.sort(key=lambda kind: -_most_pages(inputs, kind))
    shown = timed[:ROWS_MAX]
    title = f"{workload}, by page kind: {caption}"
    with drawing(title, 70 + 34 * len(shown), left=126) as sheet:
        axes = sheet.axes[0]
        axes.set_xscale("log")
        for row, kind in enumerate(shown):
            for offset, uses in zip(_offsets(len(inputs)), inputs.values(), strict=True):
                _duration(axes, row + offset, kind, uses.get(kind, {}).get(key) or {}, offset)
        axes.set_yticks(range(len(shown)), [short(kind.removeprefix("slab:")) for kind in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.minorticks_off()
        axes.locator_params(axis="x", numticks=5)
        axes.xaxis.set_major_formatter(lambda value, _: formats.nanoseconds(value))
        axes.set_xlabel("dot: median, thick line: to p90, thin: to p99")
    head = ["kind", *(f"{name}, {percentile}" for name in inputs for percentile in PERCENTILES)]
    rows = [
        [
            kind,
            *(
                formats.nanoseconds((uses.get(kind, {}).get(key) or {}).get(percentile))
                for uses in inputs.values()
                for percentile in PERCENTILES
            ),
        ]
        for kind in timed
    ]
    return Figure(title, sheet.svg, Table(head, rows), caption)


def _offsets(count: int) -> list[float]:
    """Return the vertical offsets of `count` lines in one row."""
    return [0.3 * (number - (count - 1) / 2) for number in range(count)]


def _duration(
    axes: Axes, y: float, kind: str, percentiles: Mapping[str, Any], offset: float
) -> None:
    """Draw the percentiles of a duration; lines above the middle of their row have open dots."""
    middle = percentiles.get("p50")
    if middle is None:
        return
    color = COLORS[kinds.group(kind).color]
    # A logarithmic axis has no 0.
    p50, p90, p99 = (max(1.0, percentiles.get(name) or middle) for name in PERCENTILES)
    axes.plot([p50, p99], [y, y], color=color, linewidth=1)
    axes.plot([p50, p90], [y, y], color=color, linewidth=4, solid_capstyle="butt")
    face = color if offset >= 0 else COLORS["paper"]
    axes.plot([p50], [y], marker="o", markersize=6, color=color, markerfacecolor=face)
