# SPDX-License-Identifier: GPL-2.0
"""Tables of runs: policies compared with the bounds all-slow and all-fast, and single runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kloc.base.stats import Spread, ratios, total
from kloc.base.words import plural
from kloc.measure.record import Run
from kloc.results import document
from kloc.results.rows import LOWER, UPPER

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def comparisons(runs: Sequence[Run], width: int, first: str = "policy") -> list[RenderableType]:
    """Return a heading and tables for each machine variant.

    A table has as many workloads as fit into `width` characters. With several variants, a table
    for each workload follows that compares them. `first` is the heading of the first column.
    """
    from rich.text import Text

    by_variant: dict[str, list[Run]] = {}
    for run in runs:
        by_variant.setdefault(_variant(run), []).append(run)
    tables: list[RenderableType] = []
    for variant_runs in by_variant.values():
        tables += [Text(_heading(variant_runs)), *_tables_that_fit(variant_runs, width, first)]
    if len(by_variant) > 1:
        tables += [
            _variants_table(workload, by_variant)
            for workload in dict.fromkeys(run["workload"] for run in runs)
        ]
    return tables


def _tables_that_fit(runs: Sequence[Run], width: int, first: str) -> list[Table]:
    """Return tables of all workloads, in order, with as many in each as fit."""
    tables: list[Table] = []
    table_runs: list[Run] = []
    for workload in dict.fromkeys(run["workload"] for run in runs):
        workload_runs = [run for run in runs if run["workload"] == workload]
        wider = comparison([*table_runs, *workload_runs], first)
        if table_runs and full_width(wider) <= width:
            tables[-1] = wider
            table_runs += workload_runs
        else:
            tables.append(comparison(workload_runs, first))
            table_runs = workload_runs
    return tables


def full_width(table: Table) -> int:
    """Return the width in characters at which no line of the table is wrapped."""
    from rich.console import Console

    console = Console(width=10_000)
    return table.__rich_measure__(console, console.options).maximum


def comparison(runs: Sequence[Run], first: str = "policy") -> Table:
    """Return a table with a row for each policy and three columns for each workload.

    "x all-slow" is throughput relative to the lower bound, "of all-fast" its share of the upper
    bound; with several seeds, both are the median and the range. They are empty for a bound that
    was not measured. `first` is the heading of the first column.
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
        cells = [policy]
        for workload in workloads:
            cells += _cells(runs, workload, policy)
        table.add_row(*cells)
    return table


def _variants_table(workload: str, by_variant: Mapping[str, Sequence[Run]]) -> Table:
    """Return throughput relative to all-slow by variant and policy: the paper's Figure 6."""
    from rich import box
    from rich.table import Table

    all_runs = [run for runs in by_variant.values() for run in runs]
    title = f"{workload}: x all-slow of the same variant"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant")
    policies = [name for name in dict.fromkeys(run["policy"] for run in all_runs) if name != LOWER]
    for policy in policies:
        table.add_column(policy, justify="right")
    for variant, runs in by_variant.items():
        cells = [_cells(runs, workload, policy)[1] for policy in policies]
        table.add_row(variant or document.UNCHANGED, *cells)
    return table


def remarks(runs: Sequence[Run]) -> list[str]:
    """Return the lines below a table: each note once, after the runs that it is about."""
    names_by_note: dict[str, dict[str, None]] = {}
    everything: dict[str, None] = {}
    for run in runs:
        variant = f" ({_variant(run)})" if _variant(run) else ""
        name = f"{run['workload']}/{run['policy']}{variant}"
        everything[name] = None
        for note in run["notes"]:
            names_by_note.setdefault(note, {})[name] = None
    return [
        f"{'all runs' if len(names) == len(everything) > 1 else ', '.join(names)}: {note}"
        for note, names in names_by_note.items()
    ]


def summaries(runs: Sequence[Run], width: int) -> list[RenderableType]:
    """Return a heading, and tables of the runs' main figures with a column for each run.

    A table has as many columns as fit into `width` characters.
    """
    from rich.text import Text

    tables: list[Table] = []
    shown: list[Run] = []
    for run in runs:
        wider = _summary([*shown, run], len(runs) > 1)
        if shown and full_width(wider) <= width:
            tables[-1] = wider
            shown.append(run)
        else:
            tables.append(_summary([run], len(runs) > 1))
            shown = [run]
    return [Text(_heading(runs)), *tables]


def _summary(runs: Sequence[Run], with_seeds: bool) -> Table:
    """Return a table with a column for each run, named by its seed."""
    from rich.table import Table

    table = Table(show_header=with_seeds)
    table.add_column()
    columns = [_figures(run) for run in runs]
    for run in runs:
        table.add_column(f"seed {run['seed']}", justify="right")
    for label in dict.fromkeys(label for column in columns for label in column):
        cells = [column.get(label, "") for column in columns]
        # What has several parts has a line for each, so that more columns fit.
        table.add_row(label, *(cell.replace(", ", "\n") if with_seeds else cell for cell in cells))
    return table


def _figures(run: Run) -> dict[str, str]:
    """Return the main figures of a run by their names."""
    instructions, migrated = run["instructions"], run["migrated_pages"]
    rows: dict[str, str] = {
        "workload": run["workload"],
        "policy": run["policy"],
        "operations": f"{run['operations']:,}",
        "seconds of simulated time": f"{run['seconds']:.4f}",
        "operations per second": _rate(run["throughput"]),
        "instructions, user": f"{instructions['user']:,}",
        "instructions, kernel": f"{instructions['kernel']:,}",
        **{
            f"stall time on {tier}{'' if tier == 'cache' else ' memory'}, s": (
                f"{total(kinds) / 1e9:.4f}"
            )
            for tier, kinds in run["stall_ns"].items()
        },
        "warm-up": _warm_up(run),
        "idle, s": f"{run['idle_ns'] / 1e9:.4f}",
        "idle, waiting for storage, s": f"{run['storage_wait_ns'] / 1e9:.4f}",
        **{name: f"{value:,.0f}" for name, value in run.get("figures", {}).items()},
        "pages promoted": f"{total(migrated['promoted']):,.0f}",
        "pages demoted": f"{total(migrated['demoted']):,.0f}",
        "hint faults": f"{run['hint_faults']:,}",
    }
    if run["latency_ns"]:
        rows["latency p50, p95, p99, us"] = ", ".join(
            f"{value / 1000:.1f}" for value in run["latency_ns"].values()
        )
    for name, thread in run["background"].items():
        rows[f"kernel thread {name}, s"] = f"{thread['time_ns'] / 1e9:.4f}"
    if daemon := run.get("daemon"):
        whose = ", on the workload's cores" if daemon["on_workload_cores"] else ""
        rows["daemon, s"] = f"{daemon['time_ns'] / 1e9:.4f}{whose}"
    if memory := run.get("memory"):
        rows["memory of processes, MiB"] = f"{memory['mean'] / (1 << 20):,.1f}"
    return rows


def _warm_up(run: Run) -> str:
    """Return the duration of a run's warm-up, its slices and whether it has settled."""
    if not run.get("warm_up"):
        return "none"
    warm = run["warm_up"]
    settled = "settled" if warm["settled"] else "not settled"
    return f"{warm['seconds']:.4f} s, {plural(len(warm['slices']), 'slice')}, {settled}"


def _heading(runs: Sequence[Run]) -> str:
    """Return the line above a table: the machine, the number of seeds, and the size."""
    machine = runs[0]["machine"]
    name = ", ".join(filter(None, (machine["name"], _variant(runs[0]))))
    parts = [
        f"machine {name}: {int(machine['fast_bytes']) >> 20} MiB fast",
        f"{int(machine['slow_bytes']) >> 20} MiB slow",
        plural(int(runs[0]["cores"]), "core"),
        plural(len({run["seed"] for run in runs}), "seed"),
    ]
    options = list(dict.fromkeys(document.size_option(run) for run in runs))
    if any(options):
        parts.append(
            " and ".join(f"--{option}" if option else document.FULL_SIZE for option in options)
        )
    if any(document.is_cold(run) for run in runs):
        parts.append("cold" if all(document.is_cold(run) for run in runs) else "some cold")
    return ", ".join(parts)


def _variant(run: Run) -> str:
    """Return how the run's machine differs from its profile, "" if it does not."""
    return str(run["machine"].get("variant") or "")


def _cells(runs: Sequence[Run], workload: str, policy: str) -> list[str]:
    """Return a policy's cells for one workload: throughput, x all-slow, of all-fast."""
    throughput = {
        name: {
            run["seed"]: run["throughput"]
            for run in runs
            if (run["workload"], run["policy"]) == (workload, name)
        }
        for name in (policy, LOWER, UPPER)
    }
    spread = Spread.of(throughput[policy].values())
    if spread is None:
        return ["", "", ""]
    return [
        _rate(spread.median),
        spread_text(ratios(throughput[policy], throughput[LOWER]), "{:.2f}"),
        spread_text(
            [100 * ratio for ratio in ratios(throughput[policy], throughput[UPPER])], "{:.0f} %"
        ),
    ]


def _rate(value: float) -> str:
    """Return operations per second; a program that is one operation can do less than one."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread_text(values: Sequence[float], form: str) -> str:
    """Return the median, with the range if there are several values; "" for none."""
    spread = Spread.of(values)
    if spread is None:
        return ""
    median = form.format(spread.median)
    if spread.count == 1:
        return median
    return f"{median} ({form.format(spread.low)} to {form.format(spread.high)})"
