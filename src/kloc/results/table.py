# SPDX-License-Identifier: GPL-2.0
"""Tables of results: throughput of each policy against the bounds all-slow and all-fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from kloc.measure.record import Run
from kloc.results import document

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

LOWER, UPPER = "all-slow", "all-fast"


def comparisons(runs: Sequence[Run], width: int, first: str = "policy") -> list[RenderableType]:
    """Return a comparison's heading and tables for each variant of the machine.

    A table has as many workloads as `width` characters have room for. Where there are several
    variants, one more for each workload has them side by side. `first` is the title of the column
    of policies.
    """
    from rich.text import Text

    by_variant: dict[str, list[Run]] = {}
    for run in runs:
        by_variant.setdefault(_variant(run), []).append(run)
    tables: list[RenderableType] = []
    for of_one in by_variant.values():
        tables += [Text(_title(of_one)), *_fitting(of_one, width, first)]
    if len(by_variant) > 1:
        tables += [
            _side_by_side(workload, by_variant)
            for workload in dict.fromkeys(run["workload"] for run in runs)
        ]
    return tables


def _fitting(runs: Sequence[Run], width: int, first: str) -> list[Table]:
    """Return tables that have all workloads in turn, side by side where there is room."""
    tables: list[Table] = []
    together: list[Run] = []
    for workload in dict.fromkeys(run["workload"] for run in runs):
        mine = [run for run in runs if run["workload"] == workload]
        wider = comparison([*together, *mine], first)
        if together and _full_width(wider) <= width:
            tables[-1] = wider
            together += mine
        else:
            tables.append(comparison(mine, first))
            together = mine
    return tables


def _full_width(table: Table) -> int:
    """Return how many characters it takes without a line being broken."""
    from rich.console import Console

    console = Console(width=10_000)
    return table.__rich_measure__(console, console.options).maximum


def comparison(runs: Sequence[Run], first: str = "policy") -> Table:
    """Return the table of a comparison: a row a policy, three columns a workload.

    `first` is the title of the column with the policies' names.

    "x all-slow" is throughput relative to the lower bound, "of all-fast" its
    share of the upper one: the median over seeds, with the range where there
    are several. A bound that was not measured leaves its column empty.
    """
    from rich import box
    from rich.table import Table

    workloads = list(dict.fromkeys(run["workload"] for run in runs))
    policies = list(dict.fromkeys(run["policy"] for run in runs))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for workload in workloads:
        table.add_column(f"{workload}\nops/s", justify="right")
        table.add_column("x\nall-slow", justify="right")
        table.add_column("of\nall-fast", justify="right")
    for policy in policies:
        cells = [policy + (" *" if _is_computed(runs, policy) else "")]
        for workload in workloads:
            cells += _cells(runs, workload, policy)
        table.add_row(*cells)
    return table


def _side_by_side(workload: str, by_variant: Mapping[str, Sequence[Run]]) -> Table:
    """Return how many times all-slow each policy does in each variant: paper's Figure 6."""
    from rich import box
    from rich.table import Table

    every = [run for runs in by_variant.values() for run in runs]
    title = f"{workload}: x all-slow of the same variant"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant")
    policies = [name for name in dict.fromkeys(run["policy"] for run in every) if name != LOWER]
    for policy in policies:
        mark = " *" if _is_computed(every, policy) else ""
        table.add_column(policy + mark, justify="right")
    for variant, runs in by_variant.items():
        cells = [_cells(runs, workload, policy)[1] for policy in policies]
        table.add_row(variant or "as it is", *cells)
    return table


def remarks(runs: Sequence[Run]) -> list[str]:
    """Return what must be said beside the table: what is computed, and each run's notes once."""
    said = []
    if any(run["computed"] for run in runs):
        said.append("* computed from the all-slow run: the best static placement of its pages")
    notes: dict[str, list[str]] = {}
    for run in runs:
        for note in run["notes"]:
            if not run["computed"]:
                varied = f" ({_variant(run)})" if _variant(run) else ""
                notes.setdefault(note, []).append(f"{run['workload']}/{run['policy']}{varied}")
    said += [f"{', '.join(dict.fromkeys(who))}: {note}" for note, who in notes.items()]
    return said


def summary(run: Run) -> Table:
    """Return one run's result as a table of its main figures."""
    from rich.table import Table

    table = Table(title=_title([run]), title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    stall = {tier: _total(kinds) for tier, kinds in run["stall_ns"].items()}
    instructions = run["instructions"]
    rows: dict[str, str] = {
        "workload": run["workload"],
        "policy": run["policy"],
        "operations": f"{run['operations']:,}",
        "seconds": f"{run['seconds']:.4f}",
        "operations a second": _rate(run["throughput"]),
        "instructions, user": f"{instructions['user']:,}",
        "instructions, kernel": f"{instructions['kernel']:,}",
        **{f"stalls in {tier} memory, s": f"{total / 1e9:.4f}" for tier, total in stall.items()},
        "idle, s": f"{run['idle_ns'] / 1e9:.4f}",
        "of that, waiting for storage": f"{run['storage_wait_ns'] / 1e9:.4f}",
        "promoted, demoted pages": f"{_total(run['migrated_pages']['promoted']):,.0f}, "
        f"{_total(run['migrated_pages']['demoted']):,.0f}",
        "hint faults": f"{run['hint_faults']:,}",
    }
    if run["latency_ns"]:
        rows["latency p50, p95, p99, us"] = ", ".join(
            f"{value / 1000:.1f}" for value in run["latency_ns"].values()
        )
    for name, thread in run["background"].items():
        rows[f"in the background, {name}"] = f"{thread['instructions']:,} instructions"
    for label, value in rows.items():
        table.add_row(label, value)
    return table


def plural(number: int, noun: str) -> str:
    """Return the number with its noun: "1 run", "2 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _title(runs: Sequence[Run]) -> str:
    machine = runs[0]["machine"]
    seeds = len({run["seed"] for run in runs})
    varied = f", {_variant(runs[0])}" if _variant(runs[0]) else ""
    return (
        f"machine {machine['name']}{varied}: {machine['fast_bytes'] >> 20} MiB fast, "
        f"{machine['slow_bytes'] >> 20} MiB slow, "
        f"{plural(runs[0]['cores'], 'core')}, {plural(seeds, 'seed')}{_length(runs)}"
    )


def _length(runs: Sequence[Run]) -> str:
    """Return what is to be said of how much was run, "" where it was all as it is."""
    lengths = dict.fromkeys(document.length(run) for run in runs)
    if not any(lengths):
        return ""
    return ", " + " and ".join(f"--{name}" if name else "whole" for name in lengths)


def _variant(run: Run) -> str:
    """Return in what the run's machine differs from its profile, "" for nothing."""
    return str(run["machine"].get("variant", ""))


def _cells(runs: Sequence[Run], workload: str, policy: str) -> list[str]:
    of = {
        name: {
            run["seed"]: run["throughput"]
            for run in runs
            if (run["workload"], run["policy"]) == (workload, name)
        }
        for name in (policy, LOWER, UPPER)
    }
    if not of[policy]:
        return ["", "", ""]
    return [
        _rate(median(of[policy].values())),
        _spread(_ratios(of[policy], of[LOWER]), "{:.2f}"),
        _spread([100 * ratio for ratio in _ratios(of[policy], of[UPPER])], "{:.0f} %"),
    ]


def _rate(value: float) -> str:
    """Return operations a second; a program of one's own does a part of one."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratios(these: Mapping[int, float], those: Mapping[int, float]) -> list[float]:
    return [value / those[seed] for seed, value in these.items() if seed in those]


def _spread(values: Sequence[float], form: str) -> str:
    if not values:
        return ""
    middle = form.format(median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({form.format(min(values))} to {form.format(max(values))})"


def _is_computed(runs: Sequence[Run], policy: str) -> bool:
    return any(run["computed"] for run in runs if run["policy"] == policy)


def _total(tree: Any) -> float:
    return (
        sum(_total(value) for value in tree.values()) if isinstance(tree, Mapping) else float(tree)
    )
