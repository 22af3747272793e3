# SPDX-License-Identifier: GPL-2.0
"""Draws a comparison as one SVG: a picture for a README, a page or a mail.

Each workload has a row for each policy: its throughput beside that of the bounds, what the rule of
kloc.results.ahead says of it, where the cores' time went, and what was in fast memory over time.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from kloc.base import files, progress
from kloc.base.checkout import SHORT
from kloc.measure.record import Run
from kloc.results import ahead, inputs, versions
from kloc.results.ahead import Comparison, Verdict
from kloc.results.report import formats, kinds, page, plots, ratios
from kloc.results.report.cases import Case, cases
from kloc.results.report.figure import COLORS, STYLE, saved, short
from kloc.results.report.headline import headline, sentence
from kloc.results.report.kinds import Group
from kloc.results.report.standalone import printable, standalone
from kloc.results.rows import LOWER, UPPER
from kloc.results.versions import COMMIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot

WIDTH = 880
"""Width of the picture in CSS pixels. All lengths are in pixels."""

MARGIN = 20
GAP = 30
"""The distance between two columns."""

ROW = 28
"""Height of a policy's row."""

LINE = 18
"""Height of a line of text."""

LETTER = 6.6
"""Width of a letter; most fonts have narrower ones."""

TITLE_LETTER, NAME_LETTER = 10.4, 9.0
"""The same in the title and in the names of workloads."""

VERDICT = 118
"""Width of the column of verdicts."""

ROWS_MAX = 21
"""Workloads are left out, with a note, that would make the picture longer than so many rows."""

POINTS = 21
"""The points of time at which pages in fast memory are drawn."""

SMALL = 0.02
"""Page kinds that take less than this share everywhere are drawn as other kernel memory."""

MARKS = {Verdict.AHEAD: "^", Verdict.BEHIND: "v", Verdict.TIE: "s", Verdict.UNKNOWN: "o"}
"""The shape of each verdict, for readers who do not see its color."""

UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))
"""The units of time, and how many of each are a second."""

PARTS = ("", "fast", "slow")
"""What a part of the time was a wait for: neither memory, fast memory or a cache, slow memory."""

Parts = dict[tuple[Group, str], float]
"""The parts of a time in seconds, by group and what it was a wait for."""


@dataclass
class Sheet:
    """The plot that the picture is drawn on, in pixels from its upper left corner."""

    plot: Plot
    height: float

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return new axes."""
        bottom = self.height - top - height
        return self.plot.add_axes(
            (left / WIDTH, bottom / self.height, width / WIDTH, height / self.height)
        )

    def text(self, left: float, middle: float, text: str, color: str = "ink", **how: Any) -> None:
        """Write a line of text, which `middle` goes through."""
        y = 1 - middle / self.height
        how = {"ha": "left", "va": "center", **how}
        self.plot.text(left / WIDTH, y, printable(text), color=COLORS[color], **how)


@dataclass(frozen=True)
class Block:
    """A part of the picture: its height, and what draws it with its upper end at a given place."""

    height: float
    draw: Callable[[Sheet, float], None]


@dataclass(frozen=True)
class Column:
    """A column of the picture: its left end and its width, which is 0 if it is not shown."""

    left: float
    width: float

    @property
    def right(self) -> float:
        """The right end."""
        return self.left + self.width


@dataclass(frozen=True)
class Columns:
    """The columns of each workload; names are left of `throughput`."""

    throughput: Column
    verdict: Column
    time: Column
    pages: Column


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write the picture of a document of runs to `path`, atomically.

    The same document gives the same bytes. Raises KlocError if the file cannot be written.
    """
    with progress.shown("drawing the picture"):
        text = render(document)
    files.write_text(path, text, keep=True)


def title(document: Mapping[str, Any]) -> str:
    """Return what the picture shows in one sentence: which policy is fastest."""
    return headline(cases(document["runs"]))


def render(document: Mapping[str, Any]) -> str:
    """Return the picture of a document of runs as SVG."""
    import matplotlib
    from matplotlib.figure import Figure as NewPlot

    all_cases = cases(document["runs"])
    shown = _first(all_cases)
    baseline = ahead.baseline(document)
    columns = _columns(shown, baseline)
    alone = len(all_cases) == 1
    blocks = [
        _heading(document, all_cases),
        *(_case(case, baseline, columns, alone) for case in shown),
        _legend(shown),
        _footer(document, all_cases, shown),
    ]
    height = 2 * MARGIN + sum(block.height for block in blocks)
    with matplotlib.rc_context(STYLE):
        sheet = Sheet(NewPlot(figsize=(WIDTH / 72, height / 72)), height)
        background = sheet.axes(0, 0, WIDTH, height)
        background.set_axis_off()
        background.set_ylim(0, 1)
        background.axhspan(0, 1, color=COLORS["paper"], linewidth=0)
        top = float(MARGIN)
        for block in blocks:
            block.draw(sheet, top)
            top += block.height
        text = saved(sheet.plot)
    return standalone(text, f"kloc: {title(document)}", _description(shown, baseline))


def time_parts(case: Case) -> dict[str, Parts]:
    """Return the core time of an operation under each policy; that of the run if it counts none.

    Page kinds that are small under all policies are other kernel memory.
    """
    found: dict[str, Parts] = {}
    for name in case.policies:
        times, runs = case.times(name), case.runs_under(name)
        operations = fmean(run["operations"] for run in runs)
        if times is None or not operations:
            continue
        scale = max(1, runs[0].get("cores", 1)) / operations
        parts: Parts = {}
        for group, tier, seconds in plots.parts(times):
            key = group, "fast" if tier in plots.PALE_TIERS else tier
            parts[key] = parts.get(key, 0.0) + scale * seconds
        found[name] = parts
    small = _small(
        {group: value / sum(parts.values()) for group, value in _by_group(parts).items()}
        for parts in found.values()
    )
    return {name: _in_order(_folded(parts, small)) for name, parts in found.items()}


def fast_pages(case: Case) -> dict[str, tuple[list[float], dict[Group, list[float]]]]:
    """Return times in ms and MiB in fast memory by group, of the first seed of each policy.

    The bounds and the oracle are left out: a page's tier has no meaning there.
    """
    found = {}
    for run in page.shown_runs(case) if case.contenders else []:
        series = run.get("series") or {}
        times = series.get("t_ns") or []
        points = _points(len(times))
        groups = plots.by_group_in_mib(series.get("pages_fast") or {}, points)
        if len(points) > 1 and times[-1] > 0 and groups:
            found[run["policy"]] = [times[point] / 1e6 for point in points], groups
    capacity = _fast_mib(case) or 1.0
    small = _small(
        {group: max(values) / capacity for group, values in groups.items()}
        for _, groups in found.values()
    )
    return {name: (millis, _summed(groups, small)) for name, (millis, groups) in found.items()}


def _first(all_cases: Sequence[Case]) -> list[Case]:
    """Return the first cases, as many as ROWS_MAX allows."""
    shown, rows = [all_cases[0]], len(all_cases[0].policies)
    for case in all_cases[1:]:
        rows += len(case.policies)
        if rows > ROWS_MAX:
            break
        shown.append(case)
    return shown


def _columns(shown: Sequence[Case], baseline: str | None) -> Columns:
    """Return the columns; those that the cases cannot fill leave their width to the others."""
    letters = max(len(short(name)) for case in shown for name in case.policies)
    left = MARGIN + LETTER * letters + 10
    verdict = VERDICT if any(_comparisons(case, baseline) for case in shown) else 0
    weights = [
        1.0,
        0.95 if any(time_parts(case) for case in shown) else 0.0,
        0.6 if any(fast_pages(case) for case in shown) else 0.0,
    ]
    gaps = GAP * sum(weight > 0 for weight in weights[1:]) + (10 if verdict else 0)
    unit = (WIDTH - MARGIN - left - verdict - gaps) / sum(weights)
    throughput = Column(left, unit)
    verdicts = Column(throughput.right + (10 if verdict else 0), verdict)
    time = Column(verdicts.right + GAP, unit * weights[1])
    pages = Column(time.right + GAP if time.width else time.left, unit * weights[2])
    return Columns(throughput, verdicts, time, pages)


def _heading(document: Mapping[str, Any], all_cases: Sequence[Case]) -> Block:
    """Return the title, and the line on the machine."""
    titles = textwrap.wrap(title(document), int((WIDTH - 2 * MARGIN) / TITLE_LETTER))
    lines = _wrapped(page.subtitle(document, all_cases))

    def draw(sheet: Sheet, top: float) -> None:
        for number, line in enumerate(titles):
            sheet.text(MARGIN, top + 24 * number + 10, line, fontsize=17, weight="bold")
        for number, line in enumerate(lines):
            middle = top + 24 * len(titles) + LINE * number + 8
            sheet.text(MARGIN, middle, line, "soft")

    return Block(24 * len(titles) + LINE * len(lines) + 10, draw)


def _case(case: Case, baseline: str | None, columns: Columns, alone: bool) -> Block:
    """Return the rows of a workload, with its name unless it is the only one."""
    named = 0 if alone else 26
    rows = ROW * len(case.policies)

    def draw(sheet: Sheet, top: float) -> None:
        if not alone:
            sheet.text(MARGIN, top + 16, short(case.name), fontsize=14, weight="bold")
            left = MARGIN + NAME_LETTER * len(short(case.name)) + 14
            sheet.text(left, top + 16, sentence(case, named=False))
        _draw_throughput(sheet, top + named, case, columns.throughput)
        if columns.verdict.width:
            _draw_verdicts(sheet, top + named, case, baseline, columns.verdict)
        if columns.time.width:
            _draw_time(sheet, top + named, case, columns.time)
        if columns.pages.width:
            _draw_pages(sheet, top + named, case, columns.pages)

    return Block(named + 24 + rows + 46, draw)


def _head(sheet: Sheet, column: Column, top: float, text: str) -> float:
    """Write the head of a column, and return the upper end of its rows."""
    sheet.text(column.left, top + 12, text, "soft")
    return top + 24


def _draw_throughput(sheet: Sheet, top: float, case: Case, column: Column) -> None:
    first = _head(sheet, column, top, "time" if case.is_timed else "throughput")
    axes = sheet.axes(column.left, first, column.width, ROW * len(case.policies))
    plots.draw_throughput(axes, case)
    # The values are in a column of their own, right of the longest bar.
    longest = axes.get_xlim()[1] / plots.VALUE_ROOM
    letters = max(len(text.get_text()) for text in axes.texts)
    axes.set_xlim(0, longest * column.width / (column.width - LETTER * letters - 14))
    axes.set_ylim(len(case.policies) - 0.5, -0.5)
    axes.set_xlabel("seconds" if case.is_timed else plots.throughput_unit(case))


def _draw_verdicts(
    sheet: Sheet, top: float, case: Case, baseline: str | None, column: Column
) -> None:
    first = _head(sheet, column, top, f"against {short(baseline or '')}")
    found = _comparisons(case, baseline)
    axes = sheet.axes(column.left, first, column.width, ROW * len(case.policies))
    axes.set_axis_off()
    axes.set_xlim(0, column.width)
    axes.set_ylim(len(case.policies) - 0.5, -0.5)
    for row, name in enumerate(case.policies):
        if name == baseline and found:
            axes.text(0, row, "baseline", color=COLORS["soft"], va="center")
        if one := found.get(name):
            color = COLORS[ratios.GROUPS[one.verdict].color]
            axes.plot([37], [row], MARKS[one.verdict], color=color, markersize=7)
            axes.text(0, row, f"{one.ratio:.2f}", va="center")
            axes.text(47, row, str(one.verdict), va="center")


def _draw_time(sheet: Sheet, top: float, case: Case, column: Column) -> None:
    times = time_parts(case)
    if not times:
        return
    first = _head(sheet, column, top, "where the cores' time went")
    axes = sheet.axes(column.left, first, column.width, ROW * len(case.policies))
    longest = max(sum(parts.values()) for parts in times.values())
    unit, factor = next(
        ((unit, factor) for unit, factor in UNITS if longest * factor >= 2), UNITS[-1]
    )
    plots.stacks(
        axes,
        [
            [(*key, factor * value) for key, value in times.get(name, {}).items()]
            for name in case.policies
        ],
    )
    axes.set_yticks([])
    axes.set_ylim(len(case.policies) - 0.5, -0.5)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, 1.02 * longest * factor)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: formats.compact(value))
    axes.set_xlabel(f"{unit} of core time" + ("" if case.is_timed else " per operation"))


def _draw_pages(sheet: Sheet, top: float, case: Case, column: Column) -> None:
    found = fast_pages(case)
    if not found:
        return
    capacity = _fast_mib(case)
    size = f", {capacity:,.0f} MiB" if capacity else ""
    first = _head(sheet, column, top, f"fast memory{size}")
    peak = max(
        sum(values) for _, groups in found.values() for values in zip(*groups.values(), strict=True)
    )
    for row, name in enumerate(case.policies):
        if name not in found:
            continue
        millis, groups = found[name]
        axes = sheet.axes(column.left, first + ROW * row + 3, column.width, ROW - 6)
        # The highest area first: each of the others covers the lower part of the one before it.
        for group, heights in reversed(_stacked(groups)):
            x, y = [millis[0], *millis, millis[-1]], [0.0, *heights, 0.0]
            axes.fill(x, y, color=COLORS[group.color], linewidth=0)
        axes.set_xlim(millis[0], millis[-1])
        axes.set_ylim(0, max(capacity, peak))
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        if capacity:
            axes.axhline(capacity, color=COLORS["ink"], linewidth=0.8, linestyle="--")
    bottom = first + ROW * len(case.policies)
    middle = column.left + column.width / 2
    sheet.text(middle, bottom + 25, "measured region", "soft", ha="center")


def _stacked(groups: Mapping[Group, list[float]]) -> list[tuple[Group, list[float]]]:
    """Return the sums of the values of each group and of those below it."""
    areas: list[tuple[Group, list[float]]] = []
    for group, values in groups.items():
        below = areas[-1][1] if areas else [0.0] * len(values)
        areas.append((group, [low + value for low, value in zip(below, values, strict=True)]))
    return areas


def _legend(shown: Sequence[Case]) -> Block:
    """Return the colors: those of parts of the time, and in further lines those of page kinds."""
    timed = {group for case in shown for parts in time_parts(case).values() for group, _ in parts}
    pages = {group for case in shown for _, groups in fast_pages(case).values() for group in groups}
    parts = [(group, 1.0, group.label) for group in kinds.TIME if group in timed - {*kinds.STALLS}]
    if stalled := [group for group in kinds.STALLS if group in timed]:
        waits = [
            (stalled[0], plots.PALE_ALPHA, "waits for fast memory or a cache (pale)"),
            (stalled[0], 1.0, "waits for slow memory"),
        ]
        parts[1:1] = waits
    kept = [(group, 1.0, group.label) for group in kinds.STALLS if group in timed | pages]
    lines = [
        *_legend_lines("Core time:", parts),
        *_legend_lines("Pages, and waits for them:", kept),
    ]

    def draw(sheet: Sheet, top: float) -> None:
        for number, (name, entries) in enumerate(lines):
            middle = top + LINE * number + 10
            sheet.text(MARGIN, middle, name, "soft")
            for left, (group, alpha, label) in entries:
                _swatch(sheet, left, middle, group, alpha)
                sheet.text(left + 18, middle, label)

    return Block(LINE * len(lines) + 8 if lines else 0, draw)


Entry = tuple[Group, float, str]
"""An entry of a legend: a group, the opacity of its color, and a label."""


def _legend_lines(
    name: str, entries: Sequence[Entry]
) -> list[tuple[str, list[tuple[float, Entry]]]]:
    """Return the entries with their places, in as many lines as they need; `name` is before them.

    There is no line without entries.
    """
    lines: list[tuple[str, list[tuple[float, Entry]]]] = []
    start = MARGIN + LETTER * len(name) + 8
    left = float(WIDTH)
    for entry in entries:
        width = 18 + LETTER * len(entry[2])
        if left + width > WIDTH - MARGIN:
            left = start
            lines.append(("" if lines else name, []))
        lines[-1][1].append((left, entry))
        left += width + 16
    return lines


def _swatch(sheet: Sheet, left: float, middle: float, group: Group, alpha: float) -> None:
    """Draw the square of a legend's entry."""
    from matplotlib.patches import Rectangle

    swatch = Rectangle(
        (left / WIDTH, 1 - (middle + 6) / sheet.height),
        12 / WIDTH,
        12 / sheet.height,
        transform=sheet.plot.transFigure,
        facecolor=COLORS[group.color],
        edgecolor=COLORS["line"] if group == kinds.IDLE else "none",
        alpha=alpha,
        linewidth=0.8,
    )
    sheet.plot.add_artist(swatch)


def _footer(document: Mapping[str, Any], all_cases: Sequence[Case], shown: Sequence[Case]) -> Block:
    """Return what the figures are, and what they were measured with."""
    lines = [line for text in _notes(document, all_cases, shown) for line in _wrapped(text)]

    def draw(sheet: Sheet, top: float) -> None:
        for number, line in enumerate(lines):
            sheet.text(MARGIN, top + LINE * number + 10, line, "soft")

    return Block(LINE * len(lines), draw)


def _notes(
    document: Mapping[str, Any], all_cases: Sequence[Case], shown: Sequence[Case]
) -> list[str]:
    """Return the sentences below the legend."""
    notes = []
    if left_out := all_cases[len(shown) :]:
        notes.append(f"Not shown: {formats.listed([case.name for case in left_out])}.")
    runs = [run for case in all_cases for run in case.runs]
    seeds = len({run["seed"] for run in runs})
    sentences = []
    if any(case.has_bounds for case in shown):
        sentences.append(f"The bounds: all memory is slow in {LOWER}, and fast in {UPPER}.")
    if seeds > 1:
        sentences.append(f"Throughput: median and range of {seeds} seeds.")
    if baseline := ahead.baseline(document):
        compared = any(_comparisons(case, baseline) for case in shown)
        if compared and seeds == 1:
            sentences.append(
                "One seed cannot tell who is ahead, unless the difference exceeds the spread that "
                "the workload states."
            )
        elif compared:
            sentences.append(
                f"Against {baseline}: the geometric mean of the ratios seed by seed; ahead or "
                "behind if its 95 % interval excludes 1."
            )
    if seeds > 1 and any(fast_pages(case) for case in shown):
        sentences.append("Fast memory: the first seed.")
    notes.append(" ".join(sentences))
    measured = f"Measured in the simulated machine, by kloc at {_commit(document, runs)}"
    prints = inputs.fingerprint(runs)
    notes.append(f"{measured}, inputs {prints}." if prints else f"{measured}.")
    return [note for note in notes if note]


def _commit(document: Mapping[str, Any], runs: Iterable[Run]) -> str:
    """Return the commit that the tables of `kloc bench tables` name, else those of the runs."""
    if COMMIT in document:
        return f"commit {document[COMMIT][:SHORT]}"
    commits = list(versions.commits(runs))
    return f"{'commit' if len(commits) == 1 else 'commits'} {formats.listed(commits)}"


def _description(shown: Sequence[Case], baseline: str | None) -> str:
    """Return the figures in words, for screen readers."""
    texts = []
    for case in shown:
        found = _comparisons(case, baseline)
        words = []
        for name in case.policies:
            spread = case.spread(name, "seconds" if case.is_timed else "throughput")
            assert spread is not None
            form = formats.seconds if case.is_timed else formats.count
            word = f"{name} {form(spread.median)}"
            if one := found.get(name):
                word += f" ({one.ratio:.2f} of {one.baseline}, {one.verdict_text})"
            words.append(word)
        unit = "simulated time" if case.is_timed else "operations per second"
        texts.append(f"{case.name}, {unit}: {'; '.join(words)}.")
    return " ".join(texts)


def _comparisons(case: Case, baseline: str | None) -> dict[str, Comparison]:
    """Return the comparisons of the case's contenders with the baseline, by policy."""
    return {
        one.policy: one
        for name in case.contenders
        if baseline and name != baseline and (one := ahead.comparison(case.runs, name, baseline))
    }


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, int((WIDTH - 2 * MARGIN) / LETTER))


def _points(count: int) -> list[int]:
    """Return the numbers of at most POINTS of `count` samples; first and last are kept."""
    if count <= POINTS:
        return list(range(count))
    return [round(i * (count - 1) / (POINTS - 1)) for i in range(POINTS)]


def _fast_mib(case: Case) -> float:
    """Return the MiB of fast memory, 0 if they are not known."""
    return float(case.runs[0]["machine"].get("fast_bytes", 0)) / (1 << 20)


def _by_group(parts: Parts) -> dict[Group, float]:
    sums: dict[Group, float] = {}
    for (group, _), value in parts.items():
        sums[group] = sums.get(group, 0.0) + value
    return sums


def _small(shares: Iterable[Mapping[Group, float]]) -> set[Group]:
    """Return the groups of pages whose share is nowhere SMALL or more."""
    largest: dict[Group, float] = {}
    for one in shares:
        for group, share in one.items():
            largest[group] = max(largest.get(group, 0.0), share)
    return {group for group in kinds.STALLS if largest.get(group, 0.0) < SMALL}


def _folded(parts: Parts, small: set[Group]) -> Parts:
    """Return the parts with those of small groups as other kernel memory."""
    sums: Parts = {}
    for (group, tier), value in parts.items():
        key = kinds.OTHER if group in small else group, tier
        sums[key] = sums.get(key, 0.0) + value
    return sums


def _in_order(parts: Parts) -> Parts:
    """Return the parts in stacking order: those that slow memory causes come behind the others."""
    tiers = {kinds.STORAGE: len(PARTS), kinds.IDLE: len(PARTS)}

    def place(key: tuple[Group, str]) -> tuple[int, int]:
        return tiers.get(key[0], PARTS.index(key[1])), kinds.TIME.index(key[0])

    return {key: parts[key] for key in sorted(parts, key=place)}


def _summed(groups: Mapping[Group, list[float]], small: set[Group]) -> dict[Group, list[float]]:
    """Return pages over time with those of small groups as other kernel memory."""
    sums: dict[Group, list[float]] = {}
    for group, values in groups.items():
        key = kinds.OTHER if group in small else group
        before = sums.get(key, [0.0] * len(values))
        sums[key] = [one + other for one, other in zip(before, values, strict=True)]
    return {group: sums[group] for group in kinds.PAGES if group in sums}
