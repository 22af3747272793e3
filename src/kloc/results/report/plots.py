# SPDX-License-Identifier: GPL-2.0
"""The figures of a report on runs, each with the table of its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kloc.measure.record import Run
from kloc.results.report import formats, kinds
from kloc.results.report.cases import Case, Spread, Times, total
from kloc.results.report.figure import COLOURS, Figure, Table, drawing, short
from kloc.results.report.kinds import Group
from kloc.results.table import LOWER, UPPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS_MAX = 150
"""Points of a time series that are kept."""

BINS = 60
"""Intervals into which migrations over time are sorted."""

ROW = 26
"""Pixels that a bar with its label takes."""

BAR = 0.62
"""Of a row."""

PAGES_A_MIB = 256
FAST_ALPHA = 0.42
"""Stalls in fast memory have the colour of their kind, this pale."""

SLABS = 5
"""How many slab caches a table names."""

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


def way(case: Case) -> Figure | None:
    """Return how far each policy gets from all-slow to all-fast; None without both bounds."""
    ways = {name: case.way(name) for name in case.contenders}
    shares = {name: spread for name, spread in ways.items() if spread}
    if not shares:
        return None
    oracle = case.way(case.oracle) if case.oracle else None
    best = case.best()
    title = f"{case.name}: share of what there is to win that each policy takes"
    ends = [spread.high for spread in shares.values()] + ([oracle.median] if oracle else [])
    with drawing(title, 76 + ROW * len(shares)) as sheet:
        axes = sheet.axes[0]
        right, left = max(1.0, *ends), min(0.0, *(spread.low for spread in shares.values()))
        _bars(axes, shares, best, lambda spread: formats.percent(spread.median), (left, right))
        axes.set_xlim(left - 0.02 * (right - left), right + 0.16 * (right - left))
        marks = [(0.0, LOWER, "-"), (1.0, UPPER, "-")]
        if oracle:
            marks.append((oracle.median, "oracle", "--"))
        _mark(axes, marks)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
        axes.set_xlabel("share of the way from all-slow to all-fast, %")
    rows = [
        [name, *formats.spread(spread, formats.percent), formats.percent_of(_of_oracle(case, name))]
        for name, spread in shares.items()
    ]
    if oracle and case.oracle:
        rows.append([case.oracle, *formats.spread(oracle, formats.percent), ""])
    head = ["policy", "of the way to all-fast", "range over seeds", "of the way to the oracle"]
    return Figure(title, sheet.svg, Table(head, rows, marked=_marked(shares, best)))


def throughput(case: Case) -> Figure:
    """Return the throughput of each policy, or the seconds where no operations are counted."""
    figure = "seconds" if case.is_timed else "throughput"
    spreads = {name: case.spread(name, figure) for name in case.policies}
    found = {name: spread for name, spread in spreads.items() if spread}
    shown = formats.seconds if case.is_timed else formats.count
    unit = "seconds of the machine's time (less is better)" if case.is_timed else "operations/s"
    title = f"{case.name}: {'time' if case.is_timed else 'throughput'} under each policy"
    best = case.best() if len(case.contenders) > 1 else []
    computed = {name for name in found if case.is_computed(name)}
    top = max(spread.high for spread in found.values())
    with drawing(title, 70 + ROW * len(found)) as sheet:
        axes = sheet.axes[0]
        _bars(axes, found, best, lambda spread: shown(spread.median), (0.0, top), computed)
        axes.set_xlim(0, 1.22 * top)
        bounds = [(found[name].median, "", "-") for name in (LOWER, UPPER) if name in found]
        _mark(axes, bounds)
        axes.xaxis.set_major_formatter(lambda value, _: formats.compact(value))
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel(unit)
    return Figure(title, sheet.svg, caption=case.name)


def time(case: Case) -> Figure | None:
    """Return where the time of each policy's runs went; None where nothing ran."""
    found = {name: case.times(name) for name in case.policies}
    times = {name: each for name, each in found.items() if each}
    if not times:
        return None
    computed = {
        name: spread.median
        for name in case.policies
        if name not in times and (spread := case.spread(name, "seconds"))
    }
    names = [name for name in case.policies if name in times or name in computed]
    title = f"{case.name}: where the time of each policy's run went"
    best = case.best()[:1] if len(case.contenders) > 1 else []
    with drawing(title, 70 + ROW * len(names)) as sheet:
        axes = sheet.axes[0]
        for place, name in enumerate(names):
            if name in times:
                _stack(axes, place, parts(times[name]))
            else:
                _outline(axes, place, computed[name])
            end = times[name].seconds if name in times else computed[name]
            _value(axes, end, place, formats.seconds(end), name in best)
        _rows(axes, names, best)
        axes.set_xlim(
            0, 1.2 * max([each.seconds for each in times.values()] + [*computed.values()])
        )
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel("seconds of the machine's time")
    return Figure(title, sheet.svg, _time_table(case, times), case.name)


def parts(times: Times) -> list[tuple[Group, str, float]]:
    """Return the parts of a run's time in the order in which they are stacked, none empty.

    Each has its group, the tier of memory it was spent on ("" for none), and seconds.
    """
    found = [(kinds.COMPUTE, "", times.compute)]
    for tier in sorted(times.stall):
        found += [(group, tier, times.stall[tier].get(group, 0.0)) for group in kinds.PAGES]
    found += [
        (kinds.STORAGE, "", times.storage),
        (kinds.IDLE, "", times.idle),
        (kinds.EXCESS, "", times.excess),
    ]
    return [part for part in found if part[2] > 0]


def pages(case: Case, run: Run, slow_top: float) -> Figure | None:
    """Return the pages of each tier over the time of a run, MiB; None without samples."""
    series = run.get("series") or {}
    at = thinned(len(series.get("t_ns") or []))
    if len(at) < 2 or series["t_ns"][-1] <= 0:
        return None
    millis = [series["t_ns"][i] / 1e6 for i in at]
    tiers = {tier: grouped(series.get(f"pages_{tier}") or {}, at) for tier in ("fast", "slow")}
    title = f"{case.name} under {run['policy']}: pages in each tier over time"
    with drawing(title, 290, rows=2, left=52) as sheet:
        for axes, (tier, groups) in zip(sheet.axes, tiers.items(), strict=True):
            if groups:
                _areas(axes, millis, groups)
            capacity = run["machine"].get(f"{tier}_bytes", 0) / (1 << 20)
            _tier_axis(axes, tier, capacity if tier == "fast" else slow_top)
        sheet.axes[-1].set_xlim(0, millis[-1])
        sheet.axes[-1].set_xlabel("ms since the region began")
        sheet.plot.supylabel("MiB", fontsize=12, color=COLOURS["soft"], x=0.012)
    shown = [(tier, group) for tier, groups in tiers.items() for group in groups]
    rows = [
        [f"{time:.1f}", *(f"{tiers[tier][group][i]:.1f}" for tier, group in shown)]
        for i, time in enumerate(millis)
    ]
    head = ["ms", *(f"{tier}: {group.label}, MiB" for tier, group in shown)]
    return Figure(title, sheet.svg, Table(head, rows), _run_name(run))


def slow_top(runs: Sequence[Run]) -> float:
    """Return the most MiB in use that any of the runs has in slow memory: one scale for all."""
    most = 0.0
    for run in runs:
        series = run.get("series") or {}
        groups = grouped(series.get("pages_slow") or {}, range(len(series.get("t_ns") or [])))
        if groups:
            most = max(most, *(sum(values) for values in zip(*groups.values(), strict=True)))
    return most or 1.0


def migrations(case: Case, run: Run, top: float) -> Figure | None:
    """Return the pages moved between tiers over the time of a run, by reason; None if none was."""
    rates = moved(run)
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
                colour = COLOURS[kinds.reason(name).colour]
                axes.stairs(above, edges, baseline=below, fill=True, color=colour, linewidth=0)
                below = above
        axes.axhline(0, color=COLOURS["soft"], linewidth=0.8)
        axes.set_ylim(-1.1 * top, 1.1 * top)
        axes.set_xlim(edges[0], edges[-1])
        axes.grid(axis="y")
        axes.yaxis.set_major_formatter(lambda value, _: formats.compact(abs(value)))
        axes.locator_params(axis="y", nbins=5)
        axes.set_ylabel("pages/ms")
        axes.set_xlabel("ms since the region began")
        for place, label in ((0.96, "promoted ↑"), (0.04, "demoted ↓")):
            axes.text(
                0.99,
                place,
                label,
                transform=axes.transAxes,
                ha="right",
                va="center",
                color=COLOURS["soft"],
            )
    shown = [(direction, name) for direction, by in rates.items() for name in by]
    rows = [
        [f"{low:.1f} to {high:.1f}", *(f"{rates[a][b][i]:.2f}" for a, b in shown)]
        for i, (low, high) in enumerate(pairwise(edges))
    ]
    head = ["ms", *(f"{a}, {kinds.reason(b).label}: pages/ms" for a, b in shown)]
    return Figure(title, sheet.svg, Table(head, rows), _run_name(run))


def moved(run: Run) -> dict[str, dict[str, list[float]]]:
    """Return pages moved a millisecond by direction, reason and interval (see BINS).

    A run of an older kloc tells directions only; its one reason is "all".
    """
    import numpy as np

    series = run.get("series") or {}
    if len(series.get("t_ns") or []) < 2 or series["t_ns"][-1] <= 0:
        return {}
    by_reason: Mapping[str, Mapping[str, Sequence[int]]] = series.get("moved") or {
        direction: {"all": series.get(direction) or []} for direction in ("promoted", "demoted")
    }
    edges = _edges(run)
    at = [0.0, *(time / 1e6 for time in series["t_ns"])]
    rates: dict[str, dict[str, list[float]]] = {}
    for direction, reasons in by_reason.items():
        for name, so_far in reasons.items():
            if not so_far or not so_far[-1]:
                continue
            grown = np.diff(np.interp(edges, at, [0, *so_far]))
            width = edges[1] - edges[0]
            rates.setdefault(direction, {})[name] = [float(count) / width for count in grown]
    return rates


def peak(runs: Sequence[Run]) -> float:
    """Return the highest rate, pages a millisecond, at which any run moves pages in a direction."""
    most = 0.0
    for run in runs:
        for reasons in moved(run).values():
            most = max(most, *(sum(rates) for rates in zip(*reasons.values(), strict=True)))
    return most


def over_variants(workload: str, of_workload: Sequence[Case]) -> Figure | None:
    """Return how much faster than all-slow each policy is on each variant of the machine."""
    names = [case.variant or "as it is" for case in of_workload]
    policies = list(dict.fromkeys(name for case in of_workload for name in case.policies))
    lines = {
        policy: [case.ratio(policy, LOWER) for case in of_workload]
        for policy in policies
        if policy != LOWER
    }
    lines = {policy: spreads for policy, spreads in lines.items() if any(spreads)}
    if len(of_workload) < 2 or not lines:
        return None
    title = f"{workload}: throughput relative to all-slow on each variant of the machine"
    with drawing(title, 280, left=44) as sheet:
        axes = sheet.axes[0]
        for (policy, spreads), (colour, marker) in zip(
            lines.items(), LINES * len(lines), strict=False
        ):
            points = [(place, each.median) for place, each in enumerate(spreads) if each]
            axes.plot(
                *zip(*points, strict=True),
                color=COLOURS["ink" if policy == UPPER else colour],
                marker=marker,
                markersize=5,
                linewidth=1.6,
                linestyle="--" if policy in ("oracle", UPPER) else "-",
                label=short(policy),
            )
        axes.set_xticks(range(len(names)), [short(name) for name in names])
        axes.set_xlim(-0.3, len(names) - 0.7)
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.set_ylabel("x all-slow")
        sheet.plot.subplots_adjust(top=0.76, bottom=0.1)
        sheet.plot.legend(
            loc="upper left", ncols=3, frameon=False, fontsize=11, labelcolor=COLOURS["ink"]
        )
    rows = [
        [policy, *(formats.times(each) if each else "" for each in spreads)]
        for policy, spreads in lines.items()
    ]
    return Figure(title, sheet.svg, Table(["policy, x all-slow", *names], rows), workload)


def thinned(count: int) -> list[int]:
    """Return which of `count` points are kept, the first and the last among them."""
    if count <= POINTS_MAX:
        return list(range(count))
    return [round(i * (count - 1) / (POINTS_MAX - 1)) for i in range(POINTS_MAX)]


def grouped(by_kind: Mapping[str, Sequence[int]], at: Sequence[int]) -> dict[Group, list[float]]:
    """Return MiB in use by group of pages at the points `at`, in the order of stacking."""
    sums: dict[Group, list[float]] = {}
    for kind, counts in by_kind.items():
        group = kinds.group(kind)
        if group in kinds.PAGES:
            values = sums.setdefault(group, [0.0] * len(at))
            for place, i in enumerate(at):
                values[place] += counts[i] / PAGES_A_MIB
    return {group: sums[group] for group in kinds.PAGES if group in sums}


def _run_name(run: Run) -> str:
    return f"{run['policy']}, seed {run['seed']}"


def _of_oracle(case: Case, policy: str) -> Spread | None:
    return case.way(policy, case.oracle) if case.oracle else None


def _marked(rows: Mapping[str, Any], best: Sequence[str]) -> frozenset[int]:
    return frozenset(place for place, name in enumerate(rows) if name in best[:1])


def _bars(
    axes: Axes,
    spreads: Mapping[str, Spread],
    best: Sequence[str],
    label: Any,
    ends: tuple[float, float],
    computed: set[str] | frozenset[str] = frozenset(),
) -> None:
    for place, (name, spread) in enumerate(spreads.items()):
        if name in computed:
            _outline(axes, place, spread.median)
        else:
            bound = name in (LOWER, UPPER)
            colour = "accent" if name in best[:1] else "neutral" if bound else "muted"
            axes.barh(place, spread.median, BAR, color=COLOURS[colour])
        if spread.count > 1:
            axes.plot([spread.low, spread.high], [place, place], color=COLOURS["ink"], linewidth=1)
            for end in (spread.low, spread.high):
                _whisker(axes, end, place)
        _value(axes, max(spread.high, ends[0], 0.0), place, label(spread), name in best[:1])
    _rows(axes, list(spreads), best[:1])


def _whisker(axes: Axes, x: float, place: int) -> None:
    axes.plot([x, x], [place - 0.12, place + 0.12], color=COLOURS["ink"], linewidth=1)


def _value(axes: Axes, x: float, place: int, label: str, bold: bool) -> None:
    weight = "bold" if bold else "normal"
    axes.annotate(label, (x, place), (5, 0), textcoords="offset points", va="center", weight=weight)


def _rows(axes: Axes, names: Sequence[str], bold: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    for name, label in zip(names, axes.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if name in bold else "normal")
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def _mark(axes: Axes, marks: Sequence[tuple[float, str, str]]) -> None:
    """Draw labelled lines across the bars; labels that would touch are one above the other."""
    low, high = axes.get_xlim()
    raised = -1.0
    for x, label, style in sorted(marks):
        place = (x - low) / (high - low)
        axes.axvline(x, color=COLOURS["ink"], linewidth=1, linestyle=style, zorder=2)
        crowded = raised >= 0 and place - raised < 0.2
        raised = -1.0 if crowded else place
        axes.annotate(
            label,
            (place, 1),
            (0, 13 if crowded else 2),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            fontsize=11,
            color=COLOURS["soft"],
        )


def _outline(axes: Axes, place: int, length: float) -> None:
    axes.barh(
        place,
        length,
        BAR,
        facecolor="none",
        edgecolor=COLOURS["soft"],
        linewidth=1,
        linestyle=(0, (3, 2)),
    )


def _stack(axes: Axes, place: int, shares: Sequence[tuple[Group, str, float]]) -> None:
    start = 0.0
    for group, tier, seconds in shares:
        alpha = FAST_ALPHA if tier == "fast" else 1.0
        edge = COLOURS["line"] if group == kinds.IDLE else "none"
        axes.barh(
            place,
            seconds,
            BAR,
            left=start,
            color=COLOURS[group.colour],
            alpha=alpha,
            edgecolor=edge,
            linewidth=0.8,
        )
        start += seconds


def _time_table(case: Case, times: Mapping[str, Times]) -> Table:
    """Components as rows, policies as columns, ms."""
    keys = list(
        dict.fromkeys((group, tier) for each in times.values() for group, tier, _ in parts(each))
    )
    found = {
        name: {(group, tier): value for group, tier, value in parts(each)}
        for name, each in times.items()
    }
    order = [kinds.COMPUTE, *kinds.PAGES, kinds.STORAGE, kinds.IDLE, kinds.EXCESS]
    keys.sort(key=lambda key: (order.index(key[0]) if not key[1] else 1, key[1]))
    rows = [["all", *(formats.millis(each.seconds) for each in times.values())]]
    for group, tier in keys:
        label = f"stall, {tier}: {group.label}" if tier else group.label
        rows.append(
            [label, *(formats.millis(found[name].get((group, tier), 0.0)) for name in times)]
        )
    rows += _slab_rows(case, list(times))
    return Table(["ms", *times], rows, marked=frozenset({0}))


def _slab_rows(case: Case, policies: Sequence[str]) -> list[list[str]]:
    """The slab caches that are waited for most, in all tiers, as rows of their own."""
    by_cache: dict[str, dict[str, float]] = {}
    for policy in policies:
        runs = case.of(policy)
        for run in runs:
            for of_tier in run.get("stall_ns", {}).values():
                for kind, value in of_tier.items():
                    if kind.startswith("slab:"):
                        of_cache = by_cache.setdefault(kind, dict.fromkeys(policies, 0.0))
                        of_cache[policy] += total(value) / len(runs) / 1e9
    most = sorted(by_cache, key=lambda kind: -max(by_cache[kind].values()))[:SLABS]
    return [
        [f"of slab, all tiers: {kind.removeprefix('slab:')}"]
        + [formats.millis(by_cache[kind][policy]) for policy in policies]
        for kind in most
    ]


def _areas(axes: Axes, millis: Sequence[float], groups: Mapping[Group, Sequence[float]]) -> None:
    colours = [COLOURS[group.colour] for group in groups]
    axes.stackplot(millis, *groups.values(), colors=colours, linewidth=0)


def _tier_axis(axes: Axes, tier: str, top: float) -> None:
    axes.set_ylim(0, 1.1 * top if top else None)
    axes.grid(axis="y")
    axes.locator_params(axis="y", nbins=4)
    axes.yaxis.set_major_formatter(lambda value, _: formats.compact(value))
    axes.set_title(tier, loc="left", fontsize=12, color=COLOURS["ink"], pad=4)
    if tier == "fast" and top:
        axes.axhline(top, color=COLOURS["ink"], linewidth=1, linestyle="--")


def _edges(run: Run) -> list[float]:
    end = run["series"]["t_ns"][-1] / 1e6
    return [end * i / BINS for i in range(BINS + 1)]
