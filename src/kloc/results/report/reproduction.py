# SPDX-License-Identifier: GPL-2.0
"""The commands that repeat the runs of a document."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from kloc.machine import profile
from kloc.measure import workload
from kloc.results.document import is_cold, size_option
from kloc.results.report.cases import Case
from kloc.results.report.structure import Block, Section


def section(lines: Iterable[str]) -> Section:
    """Return the section with these commands."""
    return Section("repeat", "Commands to repeat the runs", "", [Block(code="\n".join(lines))])


def commands(all_cases: Sequence[Case]) -> Iterator[str]:
    """Yield the commands that repeat all runs, with as many runs in each as possible."""
    known = set(workload.names())
    workloads: dict[tuple[str, str, str, bool, tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for case in all_cases:
        if case.workload not in known:
            yield from _own_program(case)
        elif any("placement" in run for run in case.runs):
            yield from _what_if(case)
        else:
            seeds = tuple(sorted({run["seed"] for run in case.runs}))
            first = case.runs[0]
            length = size_option(first), is_cold(first)
            key = (case.machine, case.variant, *length, tuple(case.policies), seeds)
            workloads.setdefault(key, []).append(case.workload)
    for (machine, variant, size, cold, policies, seeds), names in workloads.items():
        options = [*_machine_options(machine, variant), *_size_options(size)]
        options += ["--cold"] if cold else []
        if len(policies) > 1:
            options = ["--policies", ",".join(policies), *options, *_seed_options(seeds)]
            yield shlex.join(["./kloc", "compare", *names, *options])
            continue
        for name in names:
            for seed in seeds:
                run_options = ["--policy", policies[0], *options, "--seed", str(seed)]
                yield shlex.join(["./kloc", "run", name, *run_options])


def command(name: str, workload: str, machine: str, variant: str, seed: int, size: str = "") -> str:
    """Return the command line of `kloc NAME WORKLOAD` on a variant of a machine."""
    options = [*_machine_options(machine, variant), "--seed", str(seed), *_size_options(size)]
    return shlex.join(["./kloc", name, workload, *options])


def _what_if(case: Case) -> Iterator[str]:
    size = size_option(case.runs[0])
    for seed in sorted({run["seed"] for run in case.runs}):
        yield command("what-if", case.workload, case.machine, case.variant, seed, size)


def _own_program(case: Case) -> Iterator[str]:
    """Yield commands for a program that is not a workload; a document does not have its options."""
    for run in case.runs:
        options = ["--policy", run["policy"], *_machine_options(case.machine, case.variant)]
        options += ["--seed", str(run["seed"])]
        program = shlex.join([case.workload])
        yield f"./kloc run {shlex.join(options)} [its other options] -- {program} [its arguments]"


def _machine_options(name: str, variant: str) -> list[str]:
    """Return the options of a machine and its variant (see profile.Profile.varied)."""
    options = ["--machine", name if name in profile.names() else f"{name}.toml"]
    if match := re.search(r"\bfast x ([\d./]+)", variant):
        options += ["--fast", match[1]]
    if match := re.search(r"\bslow bandwidth ([\d./]+)", variant):
        options += ["--slow-bandwidth", match[1]]
    return options


def _seed_options(seeds: Sequence[int]) -> list[str]:
    """Return the option of `kloc compare` that chooses these seeds, which are in order."""
    if seeds == tuple(range(1, len(seeds) + 1)):
        return ["--seeds", str(len(seeds))]
    return ["--seeds", ",".join(map(str, seeds))] if len(seeds) > 1 else ["--seed", str(seeds[0])]


def _size_options(size: str) -> list[str]:
    return [f"--{size}"] if size else []
