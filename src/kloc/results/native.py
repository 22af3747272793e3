# SPDX-License-Identifier: GPL-2.0
"""Prints results that were measured on a server itself, without the simulated machine.

A server has only what it was installed with, so this module imports nothing that needs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kloc.base.sizes import rounded_size
from kloc.base.stats import Spread, total
from kloc.base.words import plural
from kloc.results import ahead

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Run = Mapping[str, Any]

Column = tuple[str, Callable[[Sequence[Run]], str]]
"""The title of a column, and what returns a cell for the runs of a policy."""

PAGE = 4096
MIB = 1 << 20


def is_native(content: Mapping[str, Any]) -> bool:
    """Return whether a document was measured on a server itself."""
    return "native" in content


def show(content: Mapping[str, Any], console: Console, against: str | None = None) -> None:
    """Print a document: the server, a table for each program, who is ahead, and notes."""
    runs = content["runs"]
    _print(console, [heading(content)])
    for name in dict.fromkeys(run["workload"] for run in runs):
        console.print(*tables([run for run in runs if run["workload"] == name]), sep="\n")
    if lines := ahead.lines(content, against):
        _print(console, [*lines, ""])
    _print(console, [*left_out(content), *remarks(runs)])


def heading(content: Mapping[str, Any]) -> str:
    """Return the line above the tables: the server, its memory, and how much was measured."""
    server = content["native"]
    tiers = []
    for tier in ("fast", "slow"):
        nodes = {number: node for number, node in server["nodes"].items() if node["tier"] == tier}
        size = rounded_size(sum(node["bytes"] for node in nodes.values()))
        of = f"node{'' if len(nodes) == 1 else 's'} {', '.join(nodes)}"
        latency = [f"{node['latency_ns']:g} ns" for node in nodes.values() if "latency_ns" in node]
        tiers.append(f"{size} {tier} ({', '.join([of, *dict.fromkeys(latency)])})")
    rounds = len({run["round"] for run in content["runs"]})
    return (
        f"measured on the server {server['host']} itself: {', '.join(tiers)}, "
        f"{plural(server['cpus'], 'CPU')}, Linux {content['kernel']['release']}, "
        f"{plural(rounds, 'round')}"
    )


def tables(runs: Sequence[Run]) -> list[Table]:
    """Return tables with a row for each policy; figures are medians over rounds.

    The second one has CPU time and memory, and is missing if these were not counted. A command of
    the user's is one operation, and its time is shown instead of operations a second.
    """
    timed = all(run["operations"] == 1 for run in runs)
    speed = ("seconds" if timed else "ops/s", _speed(timed))
    moved = [(f"{way}\nMiB", _median(_moved(way))) for way in ("promoted", "demoted")]
    found = [_table(runs, runs[0]["workload"], [speed, *moved])]
    if effort := list(_effort(runs)):
        found.append(_table(runs, None, effort))
    return found


def _table(runs: Sequence[Run], title: str | None, columns: Sequence[Column]) -> Table:
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("policy", no_wrap=True)
    for name, _ in columns:
        made.add_column(name, justify="right", no_wrap=True)
    for policy in sorted({run["policy"] for run in runs}, key=_rank):
        rows = [run for run in runs if run["policy"] == policy]
        made.add_row(policy, *(cell(rows) for _, cell in columns))
    return made


def left_out(content: Mapping[str, Any]) -> list[str]:
    """Return a line for each default policy that this server cannot have."""
    reasons = content["native"].get("left_out", {})
    return [f"{policy} was left out: {reason}" for policy, reason in reasons.items()]


def remarks(runs: Sequence[Run]) -> list[str]:
    """Return the notes of runs, each once, after the policies that it is about."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for note in run["notes"]:
            found.setdefault(note, {})[f"{run['workload']}/{run['policy']}"] = None
    everything = {f"{run['workload']}/{run['policy']}" for run in runs}
    return [
        f"{'all runs' if len(names) == len(everything) > 1 else ', '.join(names)}: {note}"
        for note, names in found.items()
    ]


def _rank(policy: str) -> tuple[int, str]:
    """Return what sorts baselines first: the order of runs is drawn."""
    usual = list(ahead.BASELINES)
    return (usual.index(policy) if policy in usual else len(usual), policy)


def _speed(timed: bool) -> Callable[[Sequence[Run]], str]:
    def cell(runs: Sequence[Run]) -> str:
        spread = Spread.of(run["seconds" if timed else "throughput"] for run in runs)
        assert spread is not None
        texts = [_number(value) for value in (spread.median, spread.low, spread.high)]
        return texts[0] if spread.count == 1 else f"{texts[0]} ({texts[1]} to {texts[2]})"

    return cell


def _effort(runs: Sequence[Run]) -> Iterator[Column]:
    """Yield the columns of CPU time and memory, without those that nothing was counted for."""
    if any("cpu_ns" in run for run in runs):
        for mode in ("user", "system"):
            yield f"{mode}\ns", _median(_cpu(mode))
    if any("memory_bytes" in run for run in runs):
        for tier in ("fast", "slow"):
            yield f"in {tier}\nMiB", _median(_memory(tier))


def _cpu(mode: str) -> Callable[[Run], float]:
    return lambda run: run["cpu_ns"][mode] / 1e9


def _moved(direction: str) -> Callable[[Run], float]:
    return lambda run: total(run["migrated_pages"][direction]) * PAGE / MIB


def _memory(tier: str) -> Callable[[Run], float]:
    return lambda run: total(run["memory_bytes"]["end"][tier]) / MIB


def _median(value: Callable[[Run], float]) -> Callable[[Sequence[Run]], str]:
    def cell(runs: Sequence[Run]) -> str:
        values = []
        for run in runs:
            try:
                values.append(value(run))
            except KeyError:
                # This run lacks what others have.
                continue
        spread = Spread.of(values)
        return "" if spread is None else _number(spread.median)

    return cell


def _number(value: float) -> str:
    if value >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value < 1 else f"{value:#.3g}".rstrip(".")


def _print(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        # A program that reads standard output finds each line whole.
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
