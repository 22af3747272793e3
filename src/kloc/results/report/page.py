# SPDX-License-Identifier: GPL-2.0
"""The page of a report on runs, under one or several policies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Any

from kloc.base.stats import total
from kloc.base.words import plural
from kloc.measure.record import Run
from kloc.results import native, work
from kloc.results.document import is_cold
from kloc.results.report import (
    bounds,
    context,
    formats,
    headline,
    heat,
    kinds,
    memory,
    movers,
    plots,
    ratios,
    reproduction,
    server,
    warm_up,
)
from kloc.results.report.cases import Case, cases, in_order
from kloc.results.report.figure import Table
from kloc.results.report.kinds import Group
from kloc.results.report.structure import Block, Page, Section
from kloc.results.rows import LOWER, UPPER

MIB = 1 << 20

BUSY = 0.001
"""Background threads that took a smaller fraction of a core are shown only if they moved pages."""


def page(document: Mapping[str, Any]) -> Page:
    """Return the report on a document of runs."""
    all_cases = cases(document["runs"])
    shown = {case.name: shown_runs(case) for case in all_cases}
    sections = [
        _throughput(all_cases),
        ratios.section(document),
        memory.section(document),
        bounds.section(all_cases, shown),
        warm_up.section(all_cases, shown),
        _time(all_cases),
        _pages(all_cases),
        heat.section(document.get("heatmaps", [])),
        _migrations(all_cases),
        _background(all_cases),
        *_about(document, all_cases),
    ]
    title = headline.headline(all_cases)
    return Page(
        title=f"kloc: {title}",
        headline=title,
        subtitle=subtitle(document, all_cases),
        cards=[headline.card(case, alone=len(all_cases) == 1) for case in all_cases],
        overview=headline.overview(all_cases),
        notes=[*_notes(all_cases), *work.lines(document)],
        sections=[section for section in sections if section],
    )


def _about(document: Mapping[str, Any], all_cases: Sequence[Case]) -> list[Section | None]:
    """Return the sections on what the figures depend on."""
    if native.is_native(document):
        return [server.effort(all_cases), server.section(document), _settings(all_cases)]
    return [
        context.machine(document),
        _settings(all_cases),
        context.versions(document),
        reproduction.section(reproduction.commands(all_cases)),
    ]


def subtitle(document: Mapping[str, Any], all_cases: Sequence[Case]) -> str:
    """Return the machine, its memory, the number of seeds and the kernel's release.

    Of a native comparison, return what its table says of the server.
    """
    if native.is_native(document):
        return f"M{native.heading(document)[1:]}"
    runs = [run for case in all_cases for run in case.runs]
    machines = list(dict.fromkeys(case.machine for case in all_cases))
    parts = [f"Machine {formats.listed(machines)}"]
    sizes = {
        (run["machine"].get("fast_bytes", 0), run["machine"].get("slow_bytes", 0)) for run in runs
    }
    if len(sizes) == 1:
        fast, slow = (int(size) // MIB for size in sizes.pop())
        parts.append(f"{fast:,} MiB fast and {slow:,} MiB slow memory")
    parts.append(plural(int(runs[0].get("cores", 1)), "core"))
    seeds = sorted({run["seed"] for run in runs})
    parts.append(plural(len(seeds), "seed") if len(seeds) > 1 else f"seed {seeds[0]}")
    if any(is_cold(run) for run in runs):
        parts.append("measured cold" if all(is_cold(run) for run in runs) else "some measured cold")
    if release := (document.get("kernel") or {}).get("release"):
        parts.append(f"Linux {release}")
    return " · ".join(parts)


def _notes(all_cases: Sequence[Case]) -> list[str]:
    """Return the notes of all runs; those that differ only in a number become one with a range."""
    names: dict[tuple[str, str, str], list[str]] = {}
    numbers: dict[tuple[str, str, str], list[float]] = {}
    for case in all_cases:
        for run in case.runs:
            for note in run.get("notes", []):
                before, number, after = _split_at_number(note)
                key = (run["policy"], before, after)
                names.setdefault(key, []).append(case.name)
                numbers.setdefault(key, []).extend([float(number)] if number else [])
    return [
        f"{policy} on {formats.listed(list(dict.fromkeys(names[key])))}: {before}"
        f"{formats.value_range(numbers[key]) if numbers[key] else ''}{after}"
        for key in names
        for policy, before, after in [key]
    ]


def _split_at_number(note: str) -> tuple[str, str, str]:
    """Return a note's text before its first number, the number, and the text after it."""
    match = re.search(r"\d+(\.\d+)?", note)
    if match is None:
        return note, "", ""
    return note[: match.start()], match[0], note[match.end() :]


def _throughput(all_cases: Sequence[Case]) -> Section:
    blocks = [Block(figures=[plots.throughput(case) for case in all_cases])]
    over_variants = [
        plots.over_variants(name, [case for case in all_cases if case.workload == name])
        for name in dict.fromkeys(case.workload for case in all_cases)
    ]
    if figures := [figure for figure in over_variants if figure]:
        blocks.append(Block("Variants of the machine", figures=figures))
    if len(all_cases) == 1:
        figure = replace(blocks[0].figures[0], caption="")
        table = _throughput_table(all_cases[0])
        blocks = [Block(figures=[figure], tables=[table], side_by_side=True)]
    else:
        blocks += [Block(case.name, tables=[_throughput_table(case)]) for case in all_cases]
    sentences = ["The number at the right of each bar is its value."]
    if any(case.has_bounds for case in all_cases):
        sentences.append(
            "The two lines are the bounds: all memory is slow in all-slow, and fast in all-fast. "
            "The difference between them is the headroom."
        )
    if any(case.oracle for case in all_cases):
        sentences.append(
            "The oracle is the all-slow run once more, with those page frames timed as fast that "
            "stalled its cores most. Where the kernel uses frames again for other pages, another "
            "policy can be faster. Then the oracle is no bound, and no share of it is given."
        )
    if any(len(case.runs_under(name)) > 1 for case in all_cases for name in case.policies):
        each = all_cases[0].unit
        sentences.append(f"Bars are medians over {each}s, whiskers are ranges.")
    title = "Time" if all(case.is_timed for case in all_cases) else "Throughput"
    return Section("throughput", title, " ".join(sentences), blocks)


def _throughput_table(case: Case) -> Table:
    """Return the results of each policy; columns without values are left out."""
    head = [
        "policy",
        "seconds" if case.is_timed else "ops/s",
        "range",
        "x all-slow",
        "of all-fast",
        "of headroom",
        "of headroom to oracle",
        "latency p50",
        "p95",
        "p99",
    ]
    rows = []
    for policy in case.policies:
        spread = case.spread(policy, "seconds" if case.is_timed else "throughput")
        assert spread is not None
        bound = case.oracle_bound
        oracle_share = case.headroom_share(policy, bound) if bound else None
        runs = case.runs_under(policy)
        rows.append(
            [
                policy,
                *formats.spread(spread, formats.seconds if case.is_timed else formats.count),
                formats.factor(case.ratio(policy, LOWER)),
                formats.percent_of(case.ratio(policy, UPPER)),
                formats.percent_of(case.headroom_share(policy)),
                formats.percent_of(oracle_share),
                *(_latency(runs, percentile) for percentile in ("p50", "p95", "p99")),
            ]
        )
    kept = [0, 1, *(i for i in range(2, len(head)) if any(row[i] for row in rows))]
    leaders = case.leaders()
    return Table(
        [head[i] for i in kept],
        [[row[i] for i in kept] for row in rows],
        marked=frozenset(i for i, policy in enumerate(case.policies) if policy in leaders),
    )


def _latency(runs: Sequence[Run], percentile: str) -> str:
    values = [
        run["latency_ns"][percentile]
        for run in runs
        if (run.get("latency_ns") or {}).get(percentile)
    ]
    return formats.nanoseconds(median(values)) if values else ""


def _time(all_cases: Sequence[Case]) -> Section | None:
    figures = [figure for case in all_cases if (figure := plots.time(case))]
    if not figures:
        return None
    block = Block(figures=figures)
    if len(figures) == 1 and (table := figures[0].table):
        figure = replace(figures[0], table=None, caption="")
        block = Block(figures=[figure], tables=[table], side_by_side=True)
    used = {
        group
        for case in all_cases
        for name in case.policies
        if (times := case.times(name))
        for group, _, _ in plots.parts(times)
    }
    return Section(
        "time",
        "Where the time went",
        "Compute is the time that the instructions would take without misses. Stalls are waits "
        "for memory, by page kind: pale colors are fast memory and caches, full colors slow "
        "memory.",
        [block],
        legend=[group for group in kinds.TIME if group in used],
        tiers=True,
    )


def _pages(all_cases: Sequence[Case]) -> Section | None:
    blocks = []
    for case in all_cases:
        runs = shown_runs(case)
        top = plots.peak_of_slow_memory(runs)
        figures = [figure for run in runs if (figure := plots.pages(case, run, top))]
        if figures:
            blocks.append(Block(_block_title(case, all_cases), figures=figures))
    if not blocks:
        return None
    return Section(
        "pages",
        "Pages in each tier",
        "Pages in use during the measured region, by page kind. The dashed line is the size of "
        "fast memory. The bounds are left out, because they time both tiers alike.",
        blocks,
        legend=kinds.PAGES,
    )


def _migrations(all_cases: Sequence[Case]) -> Section | None:
    blocks = []
    reasons: dict[Group, None] = {}
    for case in all_cases:
        runs = shown_runs(case)
        top = plots.peak_migration_rate(runs)
        figures, idle = [], []
        for run in runs:
            if figure := plots.migrations(case, run, top):
                figures.append(figure)
                for rates in plots.migration_rates(run).values():
                    reasons.update({kinds.reason(name): None for name in rates})
            elif "migrated_pages" in run and not total(run["migrated_pages"]):
                idle.append(run["policy"])
        lines = [f"No page was moved under {formats.listed(idle)}."] if idle else []
        if rows := _migration_rows(case):
            tables = [Table(["policy", "promoted", "demoted", "hint faults"], rows)]
            tables += movers.tables(case)
            blocks.append(Block(_block_title(case, all_cases), figures, tables, lines))
    if not blocks:
        return None
    intro = (
        "Promotions, from slow to fast memory, are above the line, demotions below it. "
        "The table has the pages moved in the measured region."
    )
    if any("moved_by" in run for case in all_cases for run in case.runs):
        intro += f" {movers.INTRO}"
    return Section("migrations", "Migrations", intro, blocks, legend=list(reasons))


def _migration_rows(case: Case) -> list[list[str]]:
    rows = []
    for policy in case.policies:
        runs = [run for run in case.runs_under(policy) if "migrated_pages" in run]
        if runs:
            moved = [run["migrated_pages"] for run in runs]
            rows.append(
                [
                    policy,
                    *(_median(moved, direction) for direction in ("promoted", "demoted")),
                    _median(runs, "hint_faults"),
                ]
            )
    return rows


def _median(mappings: Sequence[Mapping[str, Any]], key: str) -> str:
    """Return the median of the sums under a key, "" if it is always missing."""
    values = [total(mapping[key]) for mapping in mappings if mapping.get(key) is not None]
    return formats.count(median(values)) if values else ""


def _background(all_cases: Sequence[Case]) -> Section | None:
    blocks = []
    head = ["policy", "thread", "time", "of a core", "pages moved"]
    for case in all_cases:
        rows = [row for policy in case.policies for row in _thread_rows(case, policy)]
        if rows:
            tables = [Table(head, rows, names=2)]
            blocks.append(Block(_block_title(case, all_cases), tables=tables))
        elif any("background" in run for run in case.runs):
            lines = ["No thread took 0.1 % of a core or moved pages."]
            blocks.append(Block(_block_title(case, all_cases), lines=lines))
    if not blocks:
        return None
    intro = (
        "Kernel threads that reclaim, compact or move memory, and daemons that are policies, on "
        "whatever core they ran. "
        "Figures are means over seeds, of threads that took 0.1 % of a core or moved pages."
    )
    return Section("background", "Background threads", intro, blocks, grid=True)


def _threads(run: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """Return the times of a run's kernel threads, and of the daemon that is its policy."""
    daemon = {"daemon": {"time_ns": run["daemon"]["time_ns"]}} if "daemon" in run else {}
    return {**run["background"], **daemon}


def _thread_rows(case: Case, policy: str) -> list[list[str]]:
    runs = [run for run in case.runs_under(policy) if "background" in run]
    rows = []
    all_threads = [_threads(run) for run in runs]
    for name in dict.fromkeys(name for one in all_threads for name in one):
        threads = [one.get(name, {}) for one in all_threads]

        def mean(key: str, threads: Sequence[Mapping[str, float]] = threads) -> float:
            return fmean(thread.get(key, 0) for thread in threads)

        time, seconds = mean("time_ns") / 1e9, fmean(run["seconds"] for run in runs)
        if time < BUSY * seconds and not mean("migrated"):
            continue
        rows.append(
            [
                policy,
                name,
                formats.seconds(time),
                f"{100 * time / seconds:.1f} %" if seconds else "",
                formats.count(mean("migrated")),
            ]
        )
    return rows


def _settings(all_cases: Sequence[Case]) -> Section | None:
    blocks = []
    for policy in in_order(run["policy"] for case in all_cases for run in case.runs):
        names_by_settings: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for case in all_cases:
            for run in case.runs_under(policy):
                values = run.get("settings", {}).items()
                settings = tuple((path, str(value)) for path, value in values)
                names_by_settings.setdefault(settings, []).append(case.name)
        for settings, names in names_by_settings.items():
            if not settings:
                continue
            title = policy
            if len(names_by_settings) > 1:
                title += f" for {formats.listed(list(dict.fromkeys(names)))}"
            rows = [list(setting) for setting in settings]
            blocks.append(Block(title, tables=[Table(["file", "value"], rows, names=2)]))
    if not blocks:
        return None
    intro = "Values that kloc wrote to files of the kernel before it loaded each workload."
    return Section("settings", "Settings of each policy", intro, blocks, grid=True)


def shown_runs(case: Case) -> list[Run]:
    """Return the runs whose pages are shown: one of each policy, with the first seed.

    Bounds are shown only if there is nothing else.
    """
    names = case.contenders or [name for name in case.policies if not case.is_oracle(name)]
    return [case.runs_under(name)[0] for name in names]


def _block_title(case: Case, all_cases: Sequence[Case]) -> str:
    return case.name if len(all_cases) > 1 else ""
