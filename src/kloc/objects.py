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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kloc.errors import KlocError
from kloc.measure import Task
from kloc.policy import load
from kloc.profile import Profile
from kloc.result import Run
from kloc.workload import FULL, QUICK, Size, Workload, percentiles

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = 1
POLICY = "naive"
"""What is observed under: nothing is moved, so that a page's life is its owner's doing."""

INPUTS: Mapping[str, Size] = {"small": QUICK, "large": FULL}
PERCENTILES = (50, 90, 99)
PLOTS = (".svg", ".png")

MERGED = {"slab:jbd2_": "journal", "slab:skbuff_": "socket", "unknown": "other"}
"""The model's kinds that are counted under another name, by how their names begin."""

GROUPS: Mapping[str, str] = {
    "anon": "application",
    "shmem": "application",
    "file": "page cache",
    "blockdev": "block devices",
    "slab:": "slab",
    "socket": "sockets",
    "journal": "journal",
    "pagetable": "page tables",
}
"""What a plot shows of a kind, by how its name begins; the rest is "the rest"."""

REST = "the rest"
LEAST_SHARE = 0.005
"""Slab caches with less than this of everything share one row of the table."""

Histogram = Counter[tuple[float, float]]


@dataclass
class Use:
    """What the pages of one kind came to in the measured region; durations in ns."""

    before: int = 0
    allocated: int = 0
    freed: int = 0
    references: int = 0
    misses: int = 0
    lifetimes: Histogram = field(default_factory=Counter)
    intervals: Histogram = field(default_factory=Counter)

    def add(self, other: Use) -> None:
        """Count the other's pages among these."""
        self.before += other.before
        self.allocated += other.allocated
        self.freed += other.freed
        self.references += other.references
        self.misses += other.misses
        self.lifetimes.update(other.lifetimes)
        self.intervals.update(other.intervals)

    @property
    def alive_at_end(self) -> int:
        """Pages that were allocated in the region and outlived it: of no known lifetime."""
        return self.allocated - self.lifetimes.total()


Uses = dict[str, Use]


def tasks(what: Workload, host: Profile, seed: int) -> dict[str, Task]:
    """Return the run of each input."""
    return {
        name: Task(what, load(POLICY), host, seed, size, observe=True)
        for name, size in INPUTS.items()
    }


def uses(counted: Mapping[str, Mapping[str, Any]]) -> Uses:
    """Return what the timing model counted, by the kinds that people know."""
    found: Uses = {}
    for name, counts in counted.items():
        use = Use(
            counts["before"],
            counts["allocated"],
            counts["freed"],
            counts["references"],
            counts["misses"],
            Counter({(low, high): count for low, high, count in counts["lifetime_ns"]}),
            Counter({(low, high): count for low, high, count in counts["interval_ns"]}),
        )
        found.setdefault(_kind(name), Use()).add(use)
    return found


def merged(of: Uses, name: Mapping[str, str]) -> Uses:
    """Return the uses of several kinds together, where `name` gives those the same name."""
    found: Uses = {}
    for kind, use in of.items():
        found.setdefault(name[kind], Use()).add(use)
    return found


def _kind(name: str) -> str:
    for beginning, kind in MERGED.items():
        if name.startswith(beginning):
            return kind
    return name


def group(kind: str) -> str:
    """Return what a plot shows pages of this kind as."""
    for beginning, name in GROUPS.items():
        if kind.startswith(beginning):
            return name
    return REST


def document(
    of: Mapping[str, Any], workload: str, runs: Mapping[str, Run], sizes: Mapping[str, Size]
) -> dict[str, Any]:
    """Return the whole JSON document; `of` is an empty result file's content, for its versions.

    `runs` has the observed run of each input. Shares are of all kinds' together.
    """
    first = next(iter(runs.values()))
    return {
        "schema": SCHEMA,
        "workload": workload,
        "policy": first["policy"],
        "seed": first["seed"],
        "variant": first["machine"]["variant"],
        **{key: of[key] for key in ("kernel", "versions", "machine")},
        "measured": {
            name: {
                "load": sizes[name].load,
                "measured": sizes[name].measured,
                **{key: run[key] for key in ("operations", "seconds", "instructions")},
                "pages_allocated": sum(use.allocated for use in uses(run["objects"]).values()),
                "references": sum(use.references for use in uses(run["objects"]).values()),
                "misses": sum(use.misses for use in uses(run["objects"]).values()),
            }
            for name, run in runs.items()
        },
        "inputs": {name: _kinds(uses(run["objects"])) for name, run in runs.items()},
    }


def _kinds(of: Uses) -> dict[str, Any]:
    return {
        kind: {
            "pages_allocated": use.allocated,
            "pages_before": use.before,
            "pages_freed": use.freed,
            "pages_alive_at_end": use.alive_at_end,
            "references": share,
            "misses": missed,
            "lifetime_ns": spread(use.lifetimes),
            "interval_ns": spread(use.intervals),
        }
        for (kind, use), share, missed in zip(
            of.items(),
            _shares([use.references for use in of.values()]),
            _shares([use.misses for use in of.values()]),
            strict=True,
        )
    }


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def spread(histogram: Histogram) -> dict[str, float | None]:
    """Return p50, p90 and p99; None where nothing was counted."""
    if not histogram.total():
        return {f"p{percentile}": None for percentile in PERCENTILES}
    return dict(percentiles(histogram, PERCENTILES))


def tables(title: str, of: Uses) -> list[Table]:
    """Return the tables of one input, most pages first; small slab caches share a row."""
    rows = merged(of, _row_names(of))
    lines = sorted(rows.items(), key=lambda row: -row[1].allocated)
    return [_pages_table(title, lines), _times_table(title, lines)]


def _pages_table(title: str, lines: Sequence[tuple[str, Use]]) -> Table:
    names = (
        "pages\nallocated",
        "% of\npages",
        "alive\nat end",
        "% of\nreferences",
        "% of LLC\nmisses",
    )
    made = _table(title, names)
    pages = _shares([use.allocated for _, use in lines])
    references = _shares([use.references for _, use in lines])
    misses = _shares([use.misses for _, use in lines])
    for (name, use), *shares in zip(lines, pages, references, misses, strict=True):
        counted, referred, missed = (f"{100 * share:.1f}" for share in shares)
        made.add_row(name, f"{use.allocated:,}", counted, f"{use.alive_at_end:,}", referred, missed)
    return made


def _times_table(title: str, lines: Sequence[tuple[str, Use]]) -> Table:
    percentiles = [f"p{each}" for each in PERCENTILES]
    names = [
        f"{'' if number else what}\n{percentile}"
        for what in ("lifetime", "interval")
        for number, percentile in enumerate(percentiles)
    ]
    made = _table(f"{title}: times", names)
    for name, use in lines:
        times = (*spread(use.lifetimes).values(), *spread(use.intervals).values())
        made.add_row(name, *(duration(value) for value in times))
    return made


def _table(title: str, names: Iterable[str]) -> Table:
    from rich import box
    from rich.table import Table

    # Without lines between columns all of it fits 80 columns.
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("kind", no_wrap=True)
    for name in names:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def _row_names(of: Uses) -> dict[str, str]:
    totals = Use()
    for use in of.values():
        totals.add(use)
    small = [
        kind
        for kind, use in of.items()
        if kind.startswith("slab:")
        and use.allocated < LEAST_SHARE * totals.allocated
        and use.references < LEAST_SHARE * totals.references
        and use.misses < LEAST_SHARE * totals.misses
    ]
    return {kind: f"{len(small)} other slabs" if kind in small else kind for kind in of}


def duration(ns: float | None) -> str:
    """Return a duration as people write it; an empty text for None."""
    if ns is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g}{unit}"
    return f"{ns:.0f}ns"


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
