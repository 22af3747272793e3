# SPDX-License-Identifier: GPL-2.0
"""The page of a result document: runs under one or several policies."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Any

from kloc.machine import profile
from kloc.measure import workload
from kloc.measure.record import Run
from kloc.results import document
from kloc.results.report import formats, headline, kinds, plots
from kloc.results.report.cases import Case, cases, ordered, total
from kloc.results.report.figure import Table
from kloc.results.report.kinds import Group
from kloc.results.report.structure import Block, Page, Section
from kloc.results.table import LOWER, UPPER, plural

MIB = 1 << 20

BUSY = 0.001
"""Of a core: a background thread that took less is not shown, unless it moved pages."""


def page(document: Mapping[str, Any]) -> Page:
    """Return the report on a result document."""
    found = cases(document["runs"])
    sections = [
        _throughput(found),
        _time(found),
        _pages(found),
        _migrations(found),
        _background(found),
        machine(document),
        _settings(found),
        versions(document),
        _repeat(found),
    ]
    said = headline.headline(found)
    return Page(
        title=f"kloc: {said}",
        headline=said,
        subtitle=_subtitle(document, found),
        cards=[headline.card(case, alone=len(found) == 1) for case in found],
        overview=headline.overview(found),
        notes=_notes(found),
        sections=[section for section in sections if section],
    )


def machine(document: Mapping[str, Any]) -> Section | None:
    """Return the machine that a document's figures are of."""
    values = document.get("machine") or {}
    if not values:
        return None
    cpu, storage = values.get("cpu", {}), values.get("storage", {})
    tiers = [(name, values[name]) for name in ("fast", "slow") if name in values]
    memory = Table(
        ["memory", "capacity", "read latency", "write latency", "read", "write", "unit"],
        [
            [
                name,
                formats.size(tier.get("capacity", 0)),
                *(f"{tier.get(f'{way}_latency_ns', 0):g} ns" for way in ("read", "write")),
                *(f"{tier.get(f'{way}_bandwidth', 0):g} GB/s" for way in ("read", "write")),
                f"{tier.get('unit', 0)} B",
            ]
            for name, tier in tiers
        ],
    )
    rest = [["core", f"{cpu.get('ns_per_instruction', 0):g} ns an instruction without misses"]]
    for label, level in (("L1 filter", "l1"), ("last-level cache", "llc")):
        size, ways = formats.size(cpu.get(level, 0)), cpu.get(f"{level}_ways", 0)
        rest.append([label, f"{size}, {ways} ways"])
    rest.append(
        ["a store's miss stalls", f"{formats.percent(cpu.get('store_stall', 0))} of a load's"]
    )
    for way in ("read", "write"):
        latency = f"{storage.get(f'{way}_latency_us', 0):g} µs"
        bandwidth = f"{storage.get(f'{way}_bandwidth', 0):g} GB/s"
        rest.append([f"storage, {way}", f"{latency}, {bandwidth}"])
    rest.append(["background threads", str(values.get("background", ""))])
    rest.append(["capacities are divided by", f"{values.get('scale', 1):g}"])
    intro = f"{values.get('name', '')}: {values.get('summary', '')}"
    blocks = [Block(tables=[memory]), Block(tables=[Table(["part", "figure"], rest, names=2)])]
    return Section("machine", "The machine", intro, blocks)


def versions(document: Mapping[str, Any]) -> Section | None:
    """Return the versions that a document's figures depend on."""
    of = document.get("versions") or {}
    kernel = document.get("kernel") or {}
    rows = [[f"kernel, {name}", str(value)] for name, value in kernel.items()]
    rows += [[name, str(value)] for name, value in of.items() if not isinstance(value, Mapping)]
    programs = of.get("programs") or {}
    rows += [[f"program {name}", str(value)] for name, value in programs.items()]
    if not rows:
        return None
    blocks = [Block(tables=[Table(["", "version"], rows, names=2)])]
    if guest := of.get("guest"):
        packages = [[name, str(value)] for name, value in sorted(guest.items())]
        blocks.append(
            Block(
                f"{len(packages)} packages in the machine",
                tables=[Table(["package", "version"], packages, names=2)],
                folded=True,
            )
        )
    return Section("versions", "Versions", "Each figure is the same wherever these are.", blocks)


def _subtitle(document: Mapping[str, Any], found: Sequence[Case]) -> str:
    first = found[0].runs[0]
    seeds = sorted({run["seed"] for case in found for run in case.runs})
    sizes = {
        (run["machine"].get("fast_bytes", 0), run["machine"].get("slow_bytes", 0))
        for case in found
        for run in case.runs
    }
    said = [f"Machine {formats.listed(list(dict.fromkeys(case.machine for case in found)))}"]
    if len(sizes) == 1:
        fast, slow = sizes.pop()
        said.append(f"{fast // MIB:,} MiB fast and {slow // MIB:,} MiB slow memory")
    said.append(plural(first.get("cores", 1), "core"))
    said.append(plural(len(seeds), "seed") if len(seeds) > 1 else f"seed {seeds[0]}")
    if release := (document.get("kernel") or {}).get("release"):
        said.append(f"Linux {release}")
    return " · ".join(said)


def _notes(found: Sequence[Case]) -> list[str]:
    """What is to be known of runs: notes that differ in a number only are one, with its range."""
    who: dict[tuple[str, str], list[str]] = {}
    numbers: dict[tuple[str, str], list[float]] = {}
    for case in found:
        for run in case.runs:
            for note in [] if run.get("computed") else run.get("notes", []):
                number = re.search(r"\d+(\.\d+)?", note)
                form = note.replace(number[0], "{}", 1) if number else note
                key = (run["policy"], form)
                who.setdefault(key, []).append(case.name)
                numbers.setdefault(key, []).extend([float(number[0])] if number else [])
    return [
        f"{policy} on {formats.listed(list(dict.fromkeys(names)))}: "
        + form.replace("{}", formats.range_of(numbers[policy, form]), 1)
        for (policy, form), names in who.items()
    ]


def _result_table(case: Case) -> Table:
    unit = "seconds" if case.is_timed else "ops/s"
    head = [
        "policy",
        unit,
        "range",
        "x all-slow",
        "of all-fast",
        "way to all-fast",
        "way to oracle",
    ]
    head += ["p50", "p95", "p99"]
    rows = []
    for policy in case.policies:
        runs = case.of(policy)
        spread = case.spread(policy, "seconds" if case.is_timed else "throughput")
        assert spread is not None
        of_oracle = case.way(policy, case.oracle) if case.oracle else None
        rows.append(
            [
                policy + (" (computed)" if case.is_computed(policy) else ""),
                *formats.spread(spread, formats.seconds if case.is_timed else formats.count),
                formats.times(case.ratio(policy, LOWER)),
                formats.percent_of(case.ratio(policy, UPPER)),
                formats.percent_of(case.way(policy)),
                formats.percent_of(of_oracle),
                *(_latency(runs, name) for name in ("p50", "p95", "p99")),
            ]
        )
    kept = [0, 1, *(i for i in range(2, len(head)) if any(row[i] for row in rows))]
    best = case.best()[:1] if len(case.contenders) > 1 else []
    return Table(
        [head[i] for i in kept],
        [[row[i] for i in kept] for row in rows],
        marked=frozenset(i for i, policy in enumerate(case.policies) if policy in best),
    )


def _latency(runs: Sequence[Run], name: str) -> str:
    values = [run["latency_ns"][name] for run in runs if (run.get("latency_ns") or {}).get(name)]
    return formats.nanoseconds(median(values)) if values else ""


def _median(runs: Sequence[Run], *path: str) -> str:
    values = []
    for run in runs:
        value: Any = run
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            values.append(total(value))
    return formats.count(median(values)) if values else ""


def _throughput(found: Sequence[Case]) -> Section:
    over = [
        plots.over_variants(name, [case for case in found if case.workload == name])
        for name in dict.fromkeys(case.workload for case in found)
    ]
    blocks = [Block(figures=[plots.throughput(case) for case in found])]
    if varied := [figure for figure in over if figure]:
        blocks.append(Block("Over the variants of the machine", figures=varied))
    if len(found) == 1:
        figure = replace(blocks[0].figures[0], caption="")
        blocks = [Block(figures=[figure], tables=[_result_table(found[0])], beside=True)]
    else:
        blocks += [Block(case.name, tables=[_result_table(case)]) for case in found]
    several = any(len(case.of(name)) > 1 for case in found for name in case.policies)
    timed = all(case.is_timed for case in found)
    intro = ""
    if any({LOWER, UPPER} <= set(case.policies) for case in found):
        intro = "The two lines are the bounds, all memory slow and all memory fast."
    if any(case.oracle for case in found):
        intro += (
            " The oracle did not run: it is computed from the all-slow run's misses of each page."
        )
    if several:
        intro += " Figures are medians over seeds, whiskers the range."
    return Section("throughput", "Time" if timed else "Throughput", intro.strip(), blocks)


def _time(found: Sequence[Case]) -> Section | None:
    figures = [figure for case in found if (figure := plots.time(case))]
    if not figures:
        return None
    block = Block(figures=figures)
    if len(figures) == 1 and (table := figures[0].table):
        block = Block(
            figures=[replace(figures[0], table=None, caption="")], tables=[table], beside=True
        )
    used = {
        group
        for case in found
        for name in case.policies
        if (times := case.times(name))
        for group, _, _ in plots.parts(times)
    }
    order = [kinds.COMPUTE, *kinds.PAGES, kinds.STORAGE, kinds.IDLE, kinds.EXCESS]
    return Section(
        "time",
        "Where the time went",
        "Compute is instructions times the core's pace without misses. A stall is a wait for "
        "memory, by what the page was. What is full-coloured is spent in slow memory.",
        [block],
        legend=[group for group in order if group in used],
        tiers=True,
    )


def _pages(found: Sequence[Case]) -> Section | None:
    blocks = []
    for case in found:
        runs = _shown(case)
        top = plots.slow_top(runs)
        figures = [figure for run in runs if (figure := plots.pages(case, run, top))]
        if figures:
            blocks.append(Block(_title(case, found), figures=figures))
    if not blocks:
        return None
    return Section(
        "pages",
        "Pages in each tier",
        "What lay in each memory while the workload ran. The dashed line is what fast memory "
        "there is. Bounds are left out: they time both memories alike.",
        blocks,
        legend=kinds.PAGES,
    )


def _migrations(found: Sequence[Case]) -> Section | None:
    blocks = []
    reasons: dict[Group, None] = {}
    for case in found:
        runs = _shown(case)
        top = plots.peak(runs)
        figures, still = [], []
        for run in runs:
            if figure := plots.migrations(case, run, top):
                figures.append(figure)
                for of_direction in plots.moved(run).values():
                    reasons.update({kinds.reason(name): None for name in of_direction})
            elif "migrated_pages" in run:
                still.append(run["policy"])
        lines = [f"No page moved under {formats.listed(still)}."] if still else []
        if rows := _moved_rows(case):
            head = ["policy", "promoted", "demoted", "hint faults"]
            tables = [Table(head, rows)]
            blocks.append(Block(_title(case, found), figures, tables, lines))
    if not blocks:
        return None
    intro = "Pages moved from slow to fast memory are above the line, the others below it."
    return Section("migrations", "Migrations", intro, blocks, legend=list(reasons))


def _moved_rows(case: Case) -> list[list[str]]:
    rows = []
    for policy in case.policies:
        runs = [run for run in case.of(policy) if "migrated_pages" in run]
        if runs:
            ways = (_median(runs, "migrated_pages", way) for way in ("promoted", "demoted"))
            rows.append([policy, *ways, _median(runs, "hint_faults")])
    return rows


def _background(found: Sequence[Case]) -> Section | None:
    blocks = []
    for case in found:
        rows = [row for policy in case.policies for row in _threads(case, policy)]
        ran = any("background" in run for run in case.runs)
        head = ["policy", "thread", "time", "of a core", "stalls", "instructions", "pages moved"]
        tables = [Table(head, rows, names=2)] if rows else []
        lines = [] if rows or not ran else ["None took a thousandth of a core."]
        if tables or lines:
            blocks.append(Block(_title(case, found), tables=tables, lines=lines))
    if not blocks:
        return None
    intro = (
        "Kernel threads that reclaim, compact or move memory; their traffic takes bandwidth. "
        "The mean over seeds, of threads that took a thousandth of a core or moved pages."
    )
    return Section("background", "Background threads", intro, blocks, grid=True)


def _threads(case: Case, policy: str) -> list[list[str]]:
    runs = [run for run in case.of(policy) if "background" in run]
    rows = []
    for name in dict.fromkeys(name for run in runs for name in run["background"]):
        of = [run["background"].get(name, {}) for run in runs]

        def mean(key: str, of: Sequence[Mapping[str, float]] = of) -> float:
            return fmean(thread.get(key, 0) for thread in of)

        time, seconds = mean("time_ns") / 1e9, fmean(run["seconds"] for run in runs)
        if time < BUSY * seconds and not mean("migrated"):
            continue
        rows.append(
            [
                policy,
                name,
                formats.seconds(time),
                f"{100 * time / seconds:.1f} %" if seconds else "",
                formats.seconds(mean("stall_ns") / 1e9),
                formats.count(mean("instructions")),
                formats.count(mean("migrated")),
            ]
        )
    return rows


def _settings(found: Sequence[Case]) -> Section | None:
    blocks = []
    for policy in ordered(run["policy"] for case in found for run in case.runs):
        by_settings: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for case in found:
            for run in case.of(policy):
                written = tuple(
                    (path, str(value)) for path, value in run.get("settings", {}).items()
                )
                by_settings.setdefault(written, []).append(case.name)
        for written, names in by_settings.items():
            who = (
                f" for {formats.listed(list(dict.fromkeys(names)))}" if len(by_settings) > 1 else ""
            )
            if written:
                rows = [list(each) for each in written]
                blocks.append(Block(policy + who, tables=[Table(["file", "value"], rows, names=2)]))
    if not blocks:
        return None
    intro = "What was written before each workload was loaded."
    return Section("settings", "What each policy set", intro, blocks, grid=True)


def _repeat(found: Sequence[Case]) -> Section:
    return Section("repeat", "To repeat it", "", [Block(code="\n".join(_commands(found)))])


def _commands(found: Sequence[Case]) -> Iterable[str]:
    known = set(workload.names())
    together: dict[tuple[str, str, str, tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for case in found:
        if case.workload not in known:
            yield from _own_program(case)
            continue
        if any("placement" in run for run in case.runs):
            yield from _what_if(case)
            continue
        seeds = tuple(sorted({run["seed"] for run in case.runs}))
        key = (
            case.machine,
            case.variant,
            document.length(case.runs[0]),
            tuple(case.policies),
            seeds,
        )
        together.setdefault(key, []).append(case.workload)
    for (name, variant, length, policies, seeds), names in together.items():
        options = ["--machine", _machine(name), *_variant(variant)]
        options += [f"--{length}"] if length else []
        if seeds == tuple(range(1, len(seeds) + 1)) and len(policies) > 1:
            chosen = ["--policies", ",".join(policies), *options, "--seeds", str(len(seeds))]
            yield shlex.join(["./kloc", "compare", *names, *chosen])
            continue
        for each in names:
            for policy in policies:
                for seed in seeds:
                    chosen = ["--policy", policy, *options, "--seed", str(seed)]
                    yield shlex.join(["./kloc", "run", each, *chosen])


def _what_if(case: Case) -> Iterable[str]:
    for seed in sorted({run["seed"] for run in case.runs}):
        yield repeated(
            "what-if",
            case.workload,
            case.machine,
            case.variant,
            seed,
            document.length(case.runs[0]),
        )


def repeated(
    command: str, workload: str, machine: str, variant: str, seed: int, length: str = ""
) -> str:
    """Return the command line of `kloc COMMAND WORKLOAD` on that variant of a machine."""
    options = ["--machine", _machine(machine), *_variant(variant), "--seed", str(seed)]
    options += [f"--{length}"] if length else []
    return shlex.join(["./kloc", command, workload, *options])


def _own_program(case: Case) -> Iterable[str]:
    for run in case.runs:
        options = ["--policy", run["policy"], "--machine", _machine(case.machine)]
        options += [*_variant(case.variant), "--seed", str(run["seed"])]
        program = shlex.join([case.workload])
        yield f"./kloc run {shlex.join(options)} [its other options] -- {program} [its arguments]"


def _machine(name: str) -> str:
    return name if name in profile.names() else f"{name}.toml"


def _variant(variant: str) -> list[str]:
    """The options that a variant's name stands for (see profile.Profile.varied)."""
    options = []
    if match := re.search(r"\bfast x ([\d./]+)", variant):
        options += ["--fast", match[1]]
    if match := re.search(r"\bslow bandwidth ([\d./]+)", variant):
        options += ["--slow-bandwidth", match[1]]
    return options


def _shown(case: Case) -> list[Run]:
    """One run of each policy whose placement means something: the first seed's."""
    names = case.contenders or [name for name in case.policies if not case.is_computed(name)]
    return [case.of(name)[0] for name in names]


def _title(case: Case, found: Sequence[Case]) -> str:
    return case.name if len(found) > 1 else ""
