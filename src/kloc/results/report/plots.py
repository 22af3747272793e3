# SPDX-License-Identifier: GPL-2.0
"""The figures of a report on runs, each with the table of its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kloc.base.stats import Spread, total
from kloc.measure.record import Run
from kloc.results.document import UNCHANGED
from kloc.results.report import formats, kinds
from kloc.results.report.cases import Case, Times
from kloc.results.report.figure import COLORS, Figure, Table, drawing, short
from kloc.results.report.kinds import Group
from kloc.results.rows import LOWER, UPPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS_MAX = 150
"""The points of a time series that a figure and its table have at most."""

BINS = 60
"""The intervals of time into which migrations are sorted."""

ROW = 26
"""Height of a row in pixels: a bar with its label."""

BAR = 0.62
"""Height of a bar as a fraction of its row."""

VALUE_ROOM = 1.28
"""Length of an axis relative to the longest bar, so that values are right of the bars."""

PAGES_PER_MIB = 256
PALE_ALPHA = 0.42
"""Opacity of stalls on fast memory and on caches, so that they are pale."""

PALE_TIERS = ("fast", "cache")
"""The tiers of stalls that a better placement could not shorten: the tier `cache` is no memory."""

SLABS = 5
"""The slab caches that a table of times names."""

REGION_MS = "ms of the measured region"
"""The label of a time axis."""

LINES = (
    ("blue", "o"),
    ("orange", "s"),
    ("green", "^"),
    ("vermillion", "D"),
    ("purple", "v"),
    ("sky", "P"),
    ("yellow", "X"),
    ("grey", "h"),
)
"""The color and the marker of each policy's line."""


def headroom(case: Case) -> Figure | None:
    """Return the share of the headroom that each policy uses; None without both bounds."""
    shares = {
        name: share for name in case.contenders if (share := case.headroom_share(name)) is not None
    }
    if not shares:
        return None
    oracle = case.headroom_share(case.oracle) if case.oracle else None
    bound = case.oracle_bound
    leaders = case.leaders()
    title = f"{case.name}: share of the headroom that each policy uses"
    ends = [share.high for share in shares.values()] + ([oracle.median] if oracle else [])
    with drawing(title, 76 + ROW * len(shares)) as sheet:
        axes = sheet.axes[0]
        right, left = max(1.0, *ends), min(0.0, *(share.low for share in shares.values()))
        _bars(axes, shares, leaders, lambda share: formats.percent(share.median))
        axes.set_xlim(left - 0.02 * (right - left), right + 0.2 * (right - left))
        marks = [(0.0, LOWER, "-"), (1.0, UPPER, "-")]
        if oracle:
            marks.append((oracle.median, "oracle", "--"))
        _mark(axes, marks)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
        axes.set_xticks([tick for tick in axes.get_xticks() if left <= tick < right + 0.01])
        axes.set_xlabel("share of the headroom, %")
    rows = [
        [
            name,
            *formats.spread(share, formats.percent),
            formats.percent_of(case.headroom_share(name, bound) if bound else None),
        ]
        for name, share in shares.items()
    ]
    if oracle and case.oracle:
        rows.append([case.oracle, *formats.spread(oracle, formats.percent), ""])
    head = ["policy", "of headroom", "range over seeds", "of headroom to oracle"]
    kept = len(head) if bound else -1
    table = Table(head[:kept], [row[:kept] for row in rows], marked=_marked(shares, leaders))
    return Figure(title, sheet.svg, table)


def throughput(case: Case) -> Figure:
    """Return the throughput of each policy, or its time if no operations are counted."""
    title = f"{case.name}: {'time' if case.is_timed else 'throughput'} under each policy"
    with drawing(title, 70 + ROW * len(case.policies)) as sheet:
        draw_throughput(sheet.axes[0], case)
        sheet.axes[0].set_xlabel(throughput_unit(case))
    return Figure(title, sheet.svg, caption=case.name)


def throughput_unit(case: Case) -> str:
    """Return the unit of what `draw_throughput` draws."""
    return f"seconds of {case.time_name} (less is better)" if case.is_timed else "operations/s"


def draw_throughput(axes: Axes, case: Case) -> None:
    """Draw a bar for the throughput of each policy, or its time, with lines at the bounds."""
    figure = "seconds" if case.is_timed else "throughput"
    spreads = {
        name: spread for name in case.policies if (spread := case.spread(name, figure)) is not None
    }
    form = formats.seconds if case.is_timed else formats.count
    top = max(spread.high for spread in spreads.values()) or 1.0
    _bars(axes, spreads, case.leaders(), lambda spread: form(spread.median))
    axes.set_xlim(0, VALUE_ROOM * top)
    _mark(axes, [(spreads[name].median, "", "-") for name in (LOWER, UPPER) if name in spreads])
    axes.xaxis.set_major_formatter(lambda value, _: formats.compact(value))
    axes.locator_params(axis="x", nbins=5)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick < 1.01 * top])


def time(case: Case) -> Figure | None:
    """Return the parts of the time of each policy's runs; None if nothing ran."""
    times = {name: times for name in case.policies if (times := case.times(name)) is not None}
    if not times:
        return None
    names = [name for name in case.policies if name in times]
    title = f"{case.name}: where the time went under each policy"
    leaders = case.leaders()
    with drawing(title, 70 + ROW * len(names)) as sheet:
        axes = sheet.axes[0]
        stacks(axes, [parts(times[name]) for name in names])
        for row, name in enumerate(names):
            end = times[name].seconds
            _value(axes, end, row, formats.seconds(end), name in leaders)
        _rows(axes, names, leaders)
        axes.set_xlim(0, 1.2 * max(times[name].seconds for name in names))
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel("seconds of simulated time")
    return Figure(title, sheet.svg, _time_table(case, times), case.name)


def parts(times: Times) -> list[tuple[Group, str, float]]:
    """Return the parts of a run's time that are not zero, in stacking order.

    Each is a group, the tier that it was a stall on ("" for none), and seconds.
    """
    stalls = [
        (group, tier, times.stall[tier].get(group, 0.0))
        for tier in sorted(times.stall)
        for group in kinds.STALLS
    ]
    all_parts = [
        (kinds.COMPUTE, "", times.compute),
        *stalls,
        (kinds.STORAGE, "", times.storage),
        (kinds.IDLE, "", times.idle),
    ]
    return [part for part in all_parts if part[2] > 0]


def pages(case: Case, run: Run, slow_top: float) -> Figure | None:
    """Return the pages of each tier over the time of a run, in MiB; None without samples.

    `slow_top` is the upper end of the axis for slow memory.
    """
    series = run.get("series") or {}
    points = thinned(len(series.get("t_ns") or []))
    if len(points) < 2 or series["t_ns"][-1] <= 0:
        return None
    millis = [series["t_ns"][point] / 1e6 for point in points]
    tiers = {
        tier: by_group_in_mib(series.get(f"pages_{tier}") or {}, points)
        for tier in ("fast", "slow")
    }
    if not any(tiers.values()):
        return None
    title = f"{case.name} under {run['policy']}: pages in each tier over time"
    with drawing(title, 290, rows=2, left=52) as sheet:
        for axes, (tier, groups) in zip(sheet.axes, tiers.items(), strict=True):
            if groups:
                colors = [COLORS[group.color] for group in groups]
                axes.stackplot(millis, *groups.values(), colors=colors, linewidth=0)
            capacity = run["machine"].get(f"{tier}_bytes", 0) / (1 << 20)
            _tier_axis(axes, tier, capacity if tier == "fast" else slow_top)
        sheet.axes[-1].set_xlim(0, millis[-1])
        sheet.axes[-1].set_xlabel(REGION_MS)
        sheet.plot.supylabel("MiB", fontsize=12, color=COLORS["soft"], x=0.012)
    shown = [(tier, group) for tier, groups in tiers.items() for group in groups]
    rows = [
        [f"{time:.1f}", *(f"{tiers[tier][group][number]:.1f}" for tier, group in shown)]
        for number, time in enumerate(millis)
    ]
    head = ["ms", *(f"{tier}: {group.label}, MiB" for tier, group in shown)]
    return Figure(title, sheet.svg, Table(head, rows), _run_name(run))


def peak_of_slow_memory(runs: Sequence[Run]) -> float:
    """Return the most MiB in use in slow memory in any of the runs, for one scale for all."""
    peak = 0.0
    for run in runs:
        series = run.get("series") or {}
        points = range(len(series.get("t_ns") or []))
        groups = by_group_in_mib(series.get("pages_slow") or {}, points)
        if groups:
            peak = max(peak, *(sum(values) for values in zip(*groups.values(), strict=True)))
    return peak or 1.0


def migrations(case: Case, run: Run, top: float) -> Figure | None:
    """Return the pages moved over the time of a run, by reason; None if no page was moved.

    `top` is the upper end of the axis, in pages per ms.
    """
    rates = migration_rates(run)
    if not rates:
        return None
    edges = _edges(run)
    title = f"{case.name} under {run['policy']}: pages moved between the tiers over time"
    with drawing(title, 210, left=62) as sheet:
        axes = sheet.axes[0]
        for sign, direction in ((1, "promoted"), (-1, "demoted")):
            below = [0.0] * (len(edges) - 1)
            for name, values in rates.get(direction, {}).items():
                above = [low + sign * value for low, value in zip(below, values, strict=True)]
                color = COLORS[kinds.reason(name).color]
                axes.stairs(above, edges, baseline=below, fill=True, color=color, linewidth=0)
                below = above
        axes.axhline(0, color=COLORS["soft"], linewidth=0.8)
        axes.set_ylim(-1.1 * top, 1.1 * top)
        axes.set_xlim(edges[0], edges[-1])
        axes.grid(axis="y")
        axes.yaxis.set_major_formatter(lambda value, _: formats.compact(abs(value)))
        axes.locator_params(axis="y", nbins=5)
        axes.set_ylabel("pages/ms")
        axes.set_xlabel(REGION_MS)
        for y, label in ((0.96, "promoted ↑"), (0.04, "demoted ↓")):
            axes.text(
                0.99,
                y,
                label,
                transform=axes.transAxes,
                ha="right",
                va="center",
                color=COLORS["soft"],
            )
    shown = [(direction, name) for direction, reasons in rates.items() for name in reasons]
    rows = [
        [
            f"{start:.1f} to {end:.1f}",
            *(f"{rates[direction][name][number]:.2f}" for direction, name in shown),
        ]
        for number, (start, end) in enumerate(pairwise(edges))
    ]
    head = [
        "ms",
        *(f"{direction}, {kinds.reason(name).label}: pages/ms" for direction, name in shown),
    ]
    return Figure(title, sheet.svg, Table(head, rows), _run_name(run))


def migration_rates(run: Run) -> dict[str, dict[str, list[float]]]:
    """Return pages moved per ms by direction, reason and interval (there are BINS intervals).

    Older result files have no reasons; their one reason is "all".
    """
    import numpy as np

    series = run.get("series") or {}
    if len(series.get("t_ns") or []) < 2 or series["t_ns"][-1] <= 0:
        return {}
    totals: Mapping[str, Mapping[str, Sequence[int]]] = series.get("moved") or {
        direction: {"all": series.get(direction) or []} for direction in ("promoted", "demoted")
    }
    edges = _edges(run)
    millis = [0.0, *(time / 1e6 for time in series["t_ns"])]
    rates: dict[str, dict[str, list[float]]] = {}
    for direction, reasons in totals.items():
        for name, moved_so_far in reasons.items():
            if not moved_so_far or not moved_so_far[-1]:
                continue
            moved = np.diff(np.interp(edges, millis, [0, *moved_so_far]))
            width = edges[1] - edges[0]
            rates.setdefault(direction, {})[name] = [float(pages) / width for pages in moved]
    return rates


def peak_migration_rate(runs: Sequence[Run]) -> float:
    """Return the highest rate of any run in one direction, in pages per ms."""
    peak = 0.0
    for run in runs:
        for reasons in migration_rates(run).values():
            peak = max(peak, *(sum(rates) for rates in zip(*reasons.values(), strict=True)))
    return peak


def over_variants(workload: str, cases: Sequence[Case]) -> Figure | None:
    """Return throughput relative to all-slow on each variant; None for a single variant."""
    variants = [case.variant or UNCHANGED for case in cases]
    policies = list(dict.fromkeys(name for case in cases for name in case.policies))
    lines = {
        policy: [case.ratio(policy, LOWER) for case in cases]
        for policy in policies
        if policy != LOWER
    }
    lines = {policy: spreads for policy, spreads in lines.items() if any(spreads)}
    if len(cases) < 2 or not lines:
        return None
    title = f"{workload}: throughput relative to all-slow on each variant of the machine"
    with drawing(title, 280, left=44) as sheet:
        axes = sheet.axes[0]
        styles = LINES * len(lines)
        for (policy, spreads), (color, marker) in zip(lines.items(), styles, strict=False):
            points = [(x, spread.median) for x, spread in enumerate(spreads) if spread]
            axes.plot(
                *zip(*points, strict=True),
                color=COLORS["ink" if policy == UPPER else color],
                marker=marker,
                markersize=5,
                linewidth=1.6,
                linestyle="--" if policy in ("oracle", UPPER) else "-",
                label=short(policy),
            )
        axes.set_xticks(range(len(variants)), [short(variant) for variant in variants])
        axes.set_xlim(-0.3, len(variants) - 0.7)
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.set_ylabel("x all-slow")
        sheet.plot.subplots_adjust(top=0.76, bottom=0.1)
        sheet.plot.legend(
            loc="upper left", ncols=3, frameon=False, fontsize=11, labelcolor=COLORS["ink"]
        )
    rows = [
        [policy, *(formats.factor(spread) for spread in spreads)]
        for policy, spreads in lines.items()
    ]
    return Figure(title, sheet.svg, Table(["policy, x all-slow", *variants], rows), workload)


def thinned(count: int) -> list[int]:
    """Return the numbers of at most POINTS_MAX of `count` points; first and last are kept."""
    if count <= POINTS_MAX:
        return list(range(count))
    return [round(i * (count - 1) / (POINTS_MAX - 1)) for i in range(POINTS_MAX)]


def by_group_in_mib(
    pages_by_kind: Mapping[str, Sequence[int]], points: Sequence[int]
) -> dict[Group, list[float]]:
    """Return the MiB in use by group of pages at these points of the series, in stacking order."""
    sums: dict[Group, list[float]] = {}
    for kind, pages in pages_by_kind.items():
        group = kinds.group(kind)
        if group in kinds.PAGES:
            values = sums.setdefault(group, [0.0] * len(points))
            for number, point in enumerate(points):
                values[number] += pages[point] / PAGES_PER_MIB
    return {group: sums[group] for group in kinds.PAGES if group in sums}


def _run_name(run: Run) -> str:
    return f"{run['policy']}, seed {run['seed']}"


def _marked(rows: Mapping[str, Any], leaders: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the rows of the policies that lead."""
    return frozenset(number for number, name in enumerate(rows) if name in leaders)


def _bars(
    axes: Axes,
    spreads: Mapping[str, Spread],
    leaders: Sequence[str],
    label: Callable[[Spread], str],
) -> None:
    """Draw a bar for each policy, with whiskers for its range; leaders are highlighted.

    The values are in a column at the right, where no bound's line crosses them; the caller
    leaves room for them.
    """
    for row, (name, spread) in enumerate(spreads.items()):
        is_reference = name in (LOWER, UPPER, "oracle")
        color = "accent" if name in leaders else "neutral" if is_reference else "muted"
        axes.barh(row, spread.median, BAR, color=COLORS[color])
        if spread.count > 1:
            axes.plot([spread.low, spread.high], [row, row], color=COLORS["ink"], linewidth=1)
            for end in (spread.low, spread.high):
                _whisker(axes, end, row)
        axes.annotate(
            label(spread),
            (1, row),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="center",
            weight="bold" if name in leaders else "normal",
        )
    _rows(axes, list(spreads), leaders)


def _whisker(axes: Axes, x: float, row: int) -> None:
    axes.plot([x, x], [row - 0.12, row + 0.12], color=COLORS["ink"], linewidth=1)


def _value(axes: Axes, x: float, row: int, label: str, bold: bool) -> None:
    """Write a bar's value to the right of it."""
    weight = "bold" if bold else "normal"
    axes.annotate(label, (x, row), (5, 0), textcoords="offset points", va="center", weight=weight)


def _rows(axes: Axes, names: Sequence[str], bold: Sequence[str]) -> None:
    """Name the rows, from top to bottom."""
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    for name, label in zip(names, axes.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if name in bold else "normal")
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def _mark(axes: Axes, marks: Sequence[tuple[float, str, str]]) -> None:
    """Draw labeled lines across the bars; labels that would overlap are at different heights."""
    low, high = axes.get_xlim()
    previous = -1.0
    for x, label, style in sorted(marks):
        position = (x - low) / (high - low)
        axes.axvline(x, color=COLORS["ink"], linewidth=1, linestyle=style, zorder=2)
        crowded = previous >= 0 and position - previous < 0.2
        previous = -1.0 if crowded else position
        axes.annotate(
            label,
            (position, 1),
            (0, 13 if crowded else 2),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            fontsize=11,
            color=COLORS["soft"],
        )


def stacks(axes: Axes, rows: Sequence[Sequence[tuple[Group, str, float]]]) -> None:
    """Draw a bar in each row that is divided into parts of the time, as `parts` returns them."""
    bars: dict[tuple[Group, str], list[tuple[int, float, float]]] = {}
    for row, those in enumerate(rows):
        start = 0.0
        for group, tier, seconds in those:
            bars.setdefault((group, tier), []).append((row, start, seconds))
            start += seconds
    for (group, tier), same in bars.items():
        numbers, starts, lengths = zip(*same, strict=True)
        axes.barh(
            numbers,
            lengths,
            BAR,
            left=starts,
            color=COLORS[group.color],
            alpha=PALE_ALPHA if tier in PALE_TIERS else 1.0,
            edgecolor=COLORS["line"] if group == kinds.IDLE else "none",
            linewidth=0.8,
        )


def _time_table(case: Case, times: Mapping[str, Times]) -> Table:
    """Return the parts of the time in ms: a row for each part, a column for each policy."""
    seconds = {
        name: {(group, tier): value for group, tier, value in parts(policy_times)}
        for name, policy_times in times.items()
    }
    keys = list(dict.fromkeys(key for policy_seconds in seconds.values() for key in policy_seconds))
    # Stalls come after compute, tier by tier.
    keys.sort(
        key=lambda key: (
            1 if key[1] else kinds.TIME.index(key[0]),
            key[1],
            kinds.TIME.index(key[0]),
        )
    )
    rows = [["total", *(formats.millis(policy_times.seconds) for policy_times in times.values())]]
    for group, tier in keys:
        label = f"stall, {tier}: {group.label}" if tier else group.label
        rows.append(
            [label, *(formats.millis(seconds[name].get((group, tier), 0.0)) for name in times)]
        )
    rows += _slab_rows(case, list(times))
    return Table(["ms", *times], rows, marked=frozenset({0}))


def _slab_rows(case: Case, policies: Sequence[str]) -> list[list[str]]:
    """Return rows of the slab caches with the most stall time, over all tiers."""
    by_cache: dict[str, dict[str, float]] = {}
    for policy in policies:
        runs = case.runs_under(policy)
        for run in runs:
            for stalls in run.get("stall_ns", {}).values():
                for kind, value in stalls.items():
                    if kind.startswith("slab:"):
                        by_policy = by_cache.setdefault(kind, dict.fromkeys(policies, 0.0))
                        by_policy[policy] += total(value) / len(runs) / 1e9
    largest = sorted(by_cache, key=lambda kind: -max(by_cache[kind].values()))[:SLABS]
    return [
        [f"slab {kind.removeprefix('slab:')}, all tiers"]
        + [formats.millis(by_cache[kind][policy]) for policy in policies]
        for kind in largest
    ]


def _tier_axis(axes: Axes, tier: str, top: float) -> None:
    """Set up the vertical axis of a tier, with a line at the capacity of fast memory."""
    axes.set_ylim(0, 1.1 * top if top else None)
    axes.grid(axis="y")
    axes.locator_params(axis="y", nbins=4)
    axes.yaxis.set_major_formatter(lambda value, _: formats.compact(value))
    axes.set_title(tier, loc="left", fontsize=12, color=COLORS["ink"], pad=4)
    if tier == "fast" and top:
        axes.axhline(top, color=COLORS["ink"], linewidth=1, linestyle="--")


def _edges(run: Run) -> list[float]:
    """Return the ends of the intervals of a run's time, in ms."""
    end = run["series"]["t_ns"][-1] / 1e6
    return [end * i / BINS for i in range(BINS + 1)]
