# SPDX-License-Identifier: GPL-2.0
"""Tables of results as documents show them: the text between the marks, from a document of runs."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kloc.base.stats import Spread
from kloc.base.words import plural
from kloc.measure.record import Run
from kloc.results import ahead, inputs, printed
from kloc.results.ahead import Comparison
from kloc.results.core_time import stalls_by_kind
from kloc.results.marked import Stamp
from kloc.results.wanted import Form, Wanted

WIDTH = 80
"""The columns of a terminal whose output a document shows."""

INDENT = "    "
"""What makes a line of Markdown code."""

SPREAD_STEPS = 1000
"""A spread is rounded up to a multiple of the inverse of this."""

SLOW = "slow"
"""The tier whose stalls are shown."""

STALLS: Mapping[str, tuple[str, ...]] = {
    "application": ("anon", "shmem"),
    "page cache": ("file",),
    "slab": ("slab",),
    "page tables and stacks": ("pagetable", "stack"),
}
"""The columns of stalls, with the page kinds of each. REST has the other kinds."""

REST = "kernel and rest"


def lines(table: Wanted, content: Mapping[str, Any], commit: str) -> list[str]:
    """Return the lines of a table; `content` is the document of its runs, at that commit.

    The last one says what it was measured with.
    """
    forms: Mapping[str, Callable[[Wanted, Mapping[str, Any]], list[str]]] = {
        Form.TERMINAL: _terminal,
        Form.WORKLOADS: _workloads,
        Form.RATIOS: _ratios,
        Form.SPREAD: _spreads,
        Form.STALLS: _stalls,
    }
    measured = Stamp(commit, inputs.fingerprint(content["runs"]) or "")
    caption = f"{_unit(table)}Measured with `{table.command()}`"
    return [*forms[table.form](table, content), "", measured.caption(caption)]


def image(table: Wanted, title: str) -> str:
    """Return the line of Markdown that shows the picture of a table; `title` is in place of it."""
    path = os.path.relpath(table.picture, Path(table.document).parent)
    plain = title.replace("[", "(").replace("]", ")")
    return f"![{plain}]({path})"


def spread(comparison: Comparison) -> float:
    """Return by which fraction the ratio with one seed differs at most from the mean, rounded up.

    The ratio of each seed is within a factor of 1 + this fraction of the mean.
    """
    mean = comparison.ratio
    largest = max(max(one / mean, mean / one) for one in comparison.ratios.values())
    # Without what the floating point adds to a round number.
    return math.ceil(round((largest - 1) * SPREAD_STEPS, 6)) / SPREAD_STEPS


def spreads(table: Wanted, content: Mapping[str, Any]) -> dict[str, float]:
    """Return the largest spread of each workload, over the policies that the table compares."""
    found: dict[str, float] = {}
    for one in _comparisons(table, content):
        found[one.workload] = max(found.get(one.workload, 0.0), spread(one))
    return found


def _terminal(table: Wanted, content: Mapping[str, Any]) -> list[str]:
    """Return what kloc compare prints, as Markdown's code."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        file=file, width=WIDTH, force_terminal=False, color_system=None, highlight=False
    )
    printed.show(printed.with_ratios(content, table.against), console, table.against)
    text = "\n".join(line.rstrip() for line in file.getvalue().splitlines())
    whole = re.sub(r"\n{3,}", "\n\n", text.strip("\n"))
    return [f"{INDENT}{line}" if line else "" for line in whole.splitlines()]


def _workloads(table: Wanted, content: Mapping[str, Any]) -> list[str]:
    """Return a table of throughputs and ratios; several seeds are shown by their median."""
    found = _comparisons(table, content)
    compared = [name for name in table.compared if any(one.policy == name for one in found)]
    ratios = {(one.workload, one.policy): one for one in found}
    heads = [f"{name} against {found[0].baseline}" for name in compared]
    rows = []
    for what in table.workload_names:
        spreads = [_throughput(content["runs"], what, under) for under in table.policies]
        texts = [_verdict(ratios.get((what, under))) for under in compared]
        rows.append([f"`{what}`", *(f"{one.median:,.0f}" for one in spreads), *texts])
        if table.ranges and len(table.seed_numbers) > 1:
            empty = [""] * len(texts)
            rows.append(["lowest", *(f"{one.low:,.0f}" for one in spreads), *empty])
            rows.append(["highest", *(f"{one.high:,.0f}" for one in spreads), *empty])
    return _markdown(["workload", *table.policies, *heads], rows)


def _ratios(table: Wanted, content: Mapping[str, Any]) -> list[str]:
    """Return a table of the ratios to the baseline, with a column for each seed."""
    found = _comparisons(table, content)
    several = len({one.policy for one in found}) > 1
    rows = []
    for one in found:
        by_seed = [one.ratios.get(seed) for seed in table.seed_numbers]
        rows.append(
            [
                f"`{one.workload}`",
                *([f"`{one.policy}`"] if several else []),
                *("" if ratio is None else f"{ratio:.2f}" for ratio in by_seed),
                one.ratio_text,
                one.verdict_text,
            ]
        )
    head = ["workload", *(["policy"] if several else [])]
    seeds = [f"seed {seed}" for seed in table.seed_numbers]
    return _markdown([*head, *seeds, _mean(found, several), "verdict"], rows)


def _spreads(table: Wanted, content: Mapping[str, Any]) -> list[str]:
    """Return a table of the range of the ratios over seeds, and of the spread that follows."""
    found = _comparisons(table, content)
    several = len({one.policy for one in found}) > 1
    rows = [
        [
            f"`{one.workload}`",
            *([f"`{one.policy}`"] if several else []),
            str(len(one.ratios)),
            one.ratio_text,
            f"{min(one.ratios.values()):.2f}",
            f"{max(one.ratios.values()):.2f}",
            f"{100 * spread(one):.1f} %",
        ]
        for one in found
    ]
    head = ["workload", *(["policy"] if several else []), "seeds", _mean(found, several)]
    return _markdown([*head, "lowest", "highest", "spread"], rows)


def _stalls(table: Wanted, content: Mapping[str, Any]) -> list[str]:
    """Return a table of stalls on slow memory, in ms per second of core time."""
    rows = []
    for what in table.workload_names:
        for under in table.policies:
            runs = [
                run for run in content["runs"] if (run["workload"], run["policy"]) == (what, under)
            ]
            by_kind = stalls_by_kind(runs, SLOW)
            cells = [sum(by_kind.get(kind, 0.0) for kind in kinds) for kinds in STALLS.values()]
            whole = sum(by_kind.values())
            first = f"`{what}`" if under == table.policies[0] else ""
            cells += [max(0.0, whole - sum(cells)), whole]
            rows.append([first, f"`{under}`", *(f"{cell:,.0f}" for cell in cells)])
    return _markdown(["workload", "policy", *STALLS, REST, "all"], rows)


def _mean(found: Sequence[Comparison], several: bool) -> str:
    """Return the head of the column with the mean ratio and its interval."""
    baseline = found[0].baseline if found else "the baseline"
    policy = "" if several or not found else f"{found[0].policy} "
    return f"{policy}against {baseline}"


def _comparisons(table: Wanted, content: Mapping[str, Any]) -> list[Comparison]:
    """Return the comparisons that a table shows, workload by workload."""
    against = ahead.baseline(content, table.against)
    found = [
        one for one in ahead.comparisons(content["runs"], against) if one.policy in table.compared
    ]
    order = {what: number for number, what in enumerate(table.workload_names)}
    return sorted(found, key=lambda one: order[one.workload])


def _throughput(runs: Iterable[Run], what: str, under: str) -> Spread:
    """Return the throughput of a workload under a policy, over seeds."""
    found = Spread.of(
        run["throughput"] for run in runs if (run["workload"], run["policy"]) == (what, under)
    )
    assert found is not None
    return found


def _verdict(comparison: Comparison | None) -> str:
    """Return the ratio with what it says; the verdict of one seed is in the text around it."""
    if comparison is None:
        return ""
    if len(comparison.ratios) == 1:
        return comparison.ratio_text
    return f"{comparison.ratio_text}, {comparison.verdict}"


def _unit(table: Wanted) -> str:
    """Return the sentence on the unit and the seeds of figures, "" for forms that show both."""
    units = {
        Form.WORKLOADS: "Operations per second",
        Form.STALLS: "Milliseconds per second of core time",
    }
    if table.form not in units:
        return ""
    count = len(table.seed_numbers)
    seeds = "one seed" if count == 1 else f"medians of {plural(count, 'seed')}"
    return f"{units[Form(table.form)]}, {seeds}. "


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table of Markdown."""
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
