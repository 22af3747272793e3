# SPDX-License-Identifier: GPL-2.0
"""The page of an objects document: Figure 2 of KLOCs (ASPLOS 2021) for one workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kloc.results.report import formats, kinds
from kloc.results.report.figure import COLOURS, Figure, Table, drawing, short
from kloc.results.report.kinds import Group
from kloc.results.report.page import machine, repeated, versions
from kloc.results.report.structure import Block, Card, Page, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kinds = Mapping[str, Mapping[str, Any]]

SHARES = {
    "pages_allocated": "pages allocated",
    "references": "memory references",
    "misses": "last-level cache misses",
}
PERCENTILES = ("p50", "p90", "p99")
ROWS_MAX = 16
"""Kinds that a figure of durations has; the table has all."""

ROW = 26
PALE = ("orange", "yellow", "purple", "grey")
"""Colours that a number in a bar stands out from in dark only."""

LABEL_MIN = 0.07
"""A share of a bar that is wide enough for its number."""


def page(document: Mapping[str, Any]) -> Page:
    """Return the report on what `kloc objects` found."""
    inputs: Mapping[str, Kinds] = {name: found or {} for name, found in document["inputs"].items()}
    workload = str(document["workload"])
    last = list(inputs)[-1]
    pages = _kernel_share(inputs[last], "pages_allocated")
    said = f"{workload}: what its memory is"
    if pages is not None:
        said = f"{workload}: {formats.percent(pages)} of the pages it allocates are the kernel's"
    sections = [
        _shares(workload, inputs),
        _times(workload, inputs),
        machine(document),
        versions(document),
        Section("repeat", "To repeat it", "", [Block(code=_command(document))]),
    ]
    subtitle = f"Kernel objects and application pages · {formats.listed(list(inputs))} input"
    return Page(
        title=f"kloc: {said}",
        headline=said,
        subtitle=subtitle + ("s" if len(inputs) > 1 else ""),
        cards=[_card(name, found) for name, found in inputs.items()],
        sections=[section for section in sections if section],
    )


def _command(document: Mapping[str, Any]) -> str:
    machine = str(document["machine"]["name"])
    variant, seed = str(document.get("variant", "")), int(document.get("seed", 1))
    return repeated("objects", str(document["workload"]), machine, variant, seed)


def _card(name: str, found: Kinds) -> Card:
    facts = []
    for key, label in SHARES.items():
        share = _kernel_share(found, key)
        if share is not None:
            facts.append((formats.percent(share), f"of {label}"))
    allocated = sum(_values(found, "pages_allocated").values())
    remarks = []
    for key, what in (("lifetime_ns", "lives"), ("interval_ns", "is used again after")):
        said = [
            f"{label} {formats.nanoseconds(median)}"
            for label, median in _medians(found, key)
            if median is not None
        ]
        if said:
            remarks.append(f"At the median a page {what}: {formats.listed(said)}.")
    return Card(
        name=f"{name} input",
        headline=f"The kernel's part of {formats.count(allocated)} pages",
        facts=facts,
        remarks=remarks,
    )


def _medians(found: Kinds, key: str) -> list[tuple[str, float | None]]:
    """The median of the kind with most pages in each group that a reader asks for first."""
    said = []
    for group in (kinds.APPLICATION, kinds.PAGE_CACHE, kinds.SLAB):
        of = [kind for kind in found if kinds.group(kind) == group and found[kind].get(key)]
        if of:
            most = max(of, key=lambda kind: found[kind].get("pages_allocated") or 0)
            cache = most.partition(":")[2]
            label = f"{group.label} ({cache})" if cache else group.label
            said.append((label, found[most][key].get("p50")))
    return said


def _kernel_share(found: Kinds, key: str) -> float | None:
    values = _values(found, key)
    everything = sum(values.values())
    if not everything:
        return None
    own = sum(value for kind, value in values.items() if kinds.group(kind) == kinds.APPLICATION)
    return 1 - own / everything


def _values(found: Kinds, key: str) -> dict[str, float]:
    return {kind: of[key] for kind, of in found.items() if of.get(key) is not None}


def _shares(workload: str, inputs: Mapping[str, Kinds]) -> Section:
    title = f"{workload}: pages, references and misses by kind, for each input"
    bars = [
        (key, name, kinds.by_group(_values(found, key)))
        for key in SHARES
        for name, found in inputs.items()
    ]
    bars = [bar for bar in bars if sum(bar[2].values())]
    groups = [group for group in kinds.PAGES if any(bar[2].get(group) for bar in bars)]
    measures = list(dict.fromkeys(key for key, _, _ in bars))
    height = 62 + len(bars) * ROW + 24 * len(measures)
    with drawing(title, height, left=64) as sheet:
        axes = sheet.axes[0]
        places = _share_bars(axes, bars, groups)
        axes.set_yticks(list(places), [short(bar[1]) for bar in bars])
        axes.set_ylim(max(places, default=0) + 0.55, -1.4)
        axes.set_xlim(0, 1)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
        axes.set_xlabel("share, %")
    every = list(dict.fromkeys(kind for found in inputs.values() for kind in found))
    head = ["kind", *(f"{key.partition('_')[0]}, {name}" for key in SHARES for name in inputs)]
    rows = [
        [kind, *(_share(found, kind, key) for key in SHARES for found in inputs.values())]
        for kind in sorted(every, key=lambda kind: -_most(inputs, kind))
    ]
    block = Block(figures=[Figure(title, sheet.svg)], tables=[Table(head, rows)], beside=True)
    intro = "Allocations count each time: pages are freed and taken again."
    return Section("shares", "Pages, references, misses", intro, [block], legend=groups)


def _share_bars(
    axes: Axes,
    bars: Sequence[tuple[str, str, Mapping[Group, float]]],
    groups: Sequence[Group],
) -> list[float]:
    places: list[float] = []
    place, last = -1.0, ""
    for key, _, by_group in bars:
        place += 1.0 if key == last else 1.9 if last else 1.0
        if key != last:
            axes.annotate(
                SHARES[key],
                (0, place - 0.45),
                (0, 3),
                textcoords="offset points",
                fontweight="bold",
            )
        whole, start = sum(by_group.values()), 0.0
        for group in groups:
            share = by_group.get(group, 0.0) / whole
            axes.barh(place, share, 0.62, left=start, color=COLOURS[group.colour])
            if share >= LABEL_MIN:
                axes.text(
                    start + share / 2,
                    place,
                    f"{100 * share:.0f}",
                    ha="center",
                    va="center",
                    fontsize=11,
                    color=COLOURS["dark" if group.colour in PALE else "paper"],
                )
            start += share
        places.append(place)
        last = key
    return places


def _share(found: Kinds, kind: str, key: str) -> str:
    value = found.get(kind, {}).get(key)
    if value is None:
        return ""
    whole = sum(_values(found, key).values())
    share = f"{100 * value / whole:.2f} %" if whole else ""
    return f"{formats.count(value)} ({share})" if key == "pages_allocated" else share


def _most(inputs: Mapping[str, Kinds], kind: str) -> float:
    return max((found.get(kind, {}).get("pages_allocated") or 0) for found in inputs.values())


def _times(workload: str, inputs: Mapping[str, Kinds]) -> Section | None:
    wanted = (
        ("lifetime_ns", "How long a page lives: from allocation to free"),
        ("interval_ns", "How often it is used: from one access to the next"),
    )
    found = [_durations(workload, inputs, key, what) for key, what in wanted]
    figures = [figure for figure in found if figure]
    if not figures:
        return None
    intro = f"The {ROWS_MAX} kinds with most pages."
    if len(inputs) > 1:
        intro += f" In each row {formats.listed(list(inputs))}, from top to bottom."
    block = Block(figures=figures)
    return Section("times", "Lifetimes and intervals", intro, [block], legend=kinds.PAGES)


def _durations(workload: str, inputs: Mapping[str, Kinds], key: str, caption: str) -> Figure | None:
    every = list(
        dict.fromkeys(
            kind
            for found in inputs.values()
            for kind, of in found.items()
            if (of.get(key) or {}).get("p50") is not None
        )
    )
    if not every:
        return None
    every.sort(key=lambda kind: -_most(inputs, kind))
    shown = every[:ROWS_MAX]
    title = f"{workload}, by kind of page: {caption}"
    with drawing(title, 70 + 34 * len(shown), left=126) as sheet:
        axes = sheet.axes[0]
        axes.set_xscale("log")
        for place, kind in enumerate(shown):
            for offset, found in zip(_offsets(len(inputs)), inputs.values(), strict=True):
                _range(axes, place + offset, kind, found.get(kind, {}).get(key) or {}, offset)
        axes.set_yticks(range(len(shown)), [short(kind.removeprefix("slab:")) for kind in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.minorticks_off()
        axes.locator_params(axis="x", numticks=5)
        axes.xaxis.set_major_formatter(lambda value, _: formats.nanoseconds(value))
        axes.set_xlabel("time; dot: median, thick: to 90 %, thin: to 99 %")
    head = ["kind", *(f"{name}, {point}" for name in inputs for point in PERCENTILES)]
    rows = [
        [
            kind,
            *(
                formats.nanoseconds((found.get(kind, {}).get(key) or {}).get(point))
                for found in inputs.values()
                for point in PERCENTILES
            ),
        ]
        for kind in every
    ]
    return Figure(title, sheet.svg, Table(head, rows), caption)


def _offsets(count: int) -> list[float]:
    return [0.3 * (place - (count - 1) / 2) for place in range(count)]


def _range(axes: Axes, place: float, kind: str, points: Mapping[str, Any], offset: float) -> None:
    middle = points.get("p50")
    if middle is None:
        return
    colour = COLOURS[kinds.group(kind).colour]
    at = [max(1.0, points.get(name) or middle) for name in PERCENTILES]
    axes.plot([at[0], at[2]], [place, place], color=colour, linewidth=1)
    axes.plot([at[0], at[1]], [place, place], color=colour, linewidth=4, solid_capstyle="butt")
    face = colour if offset >= 0 else COLOURS["paper"]
    axes.plot([at[0]], [place], marker="o", markersize=6, color=colour, markerfacecolor=face)
