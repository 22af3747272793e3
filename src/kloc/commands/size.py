# SPDX-License-Identifier: GPL-2.0
"""`kloc size`: finds the smallest fast memory with which policies stay near all-fast."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kloc.base import files, terminal
from kloc.commands import completers, duration, options, output, stored_results, values
from kloc.commands.measuring import Measurement
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.measure.record import Run
from kloc.measure.runner import Incomplete, Interrupted, prepare
from kloc.measure.sizing import HEADROOM, REFERENCE, STEPS, Sizing
from kloc.results import inputs, size_document, size_table, table, versions

USAGE = ("[options] WORKLOAD",)

DESCRIPTION = """\
Find, for each policy and each tolerated slowdown, the smallest fast memory with which the
workload's throughput stays within this slowdown of all-fast, and print what that saves in cost of
memory.

The search is a bisection. Each size that it finds is measured again with the next seed.
docs/tuning.md ("Size fast memory") explains the table.
"""

EXAMPLES = (
    ("kloc size redis", "within 3, 6 and 10 %"),
    ("kloc size redis --slowdown 5 --json r.json", "within 5 %"),
    ("kloc size redis --slowdown 3,5 --resume r.json", "with one bound more"),
)

BOUNDS = (3.0, 6.0, 10.0)
"""Slowdowns in percent: those of Thermostat's Figure 11."""

POLICIES = ("tpp", "kloc")

MIB = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    options.add_workload(parser)
    group = parser.add_argument_group("measurement")
    group.add_argument(
        "--slowdown",
        type=values.percentages,
        default=BOUNDS,
        metavar="P,P",
        help="the tolerated slowdowns relative to all-fast, in percent (default: "
        f"{','.join(f'{bound:g}' for bound in BOUNDS)})",
    )
    policies = group.add_argument(
        "--policies",
        type=values.comma_list,
        action=values.AddUp,
        default=POLICIES,
        metavar="A,B",
        help=f"the policies (default: {','.join(POLICIES)})",
    )
    completers.complete_names(policies, policy.names)
    options.add(group, "seed", "length")
    options.add(parser.add_argument_group("machine"), "machine")
    group = parser.add_argument_group("output")
    options.add(group, "json")
    group.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="continue the search in FILE, which --json has written: measure only what it lacks, "
        "and write all results to it (or to the FILE of --json)",
    )
    options.add(group, "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Search, and print the sizes that were found."""
    if args.resume and args.json is None:
        args.json = args.resume
    output.check(args)
    search = _search(args)
    stored = stored_results.chosen(args, search.references())
    kept: list[Run] = stored["runs"] if stored else []
    if args.dry_run:
        return _list(search, kept)
    if args.resume:
        files.continue_file(args.resume)
    parts = prepare([search.workload], policies=search.policies)
    path = args.resume if output.is_stdout(args) else args.json
    measurement = Measurement(
        search.tasks(kept), search.measured, parts, search.host, path, stored, args.resume
    )
    runs = measurement.kept()
    try:
        while todo := search.todo(runs):
            runs = measurement.extend(todo, runs, args.follow)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _deliver(args, measurement.content(ended.runs), search)
        raise
    _deliver(args, measurement.content(runs), search)
    return 0


def _search(args: argparse.Namespace) -> Sizing:
    """Return the search that the options ask for. Raises KlocError for what cannot be measured."""
    search = Sizing(
        workload.load(args.workload),
        tuple(policy.load(name) for name in dict.fromkeys(args.policies)),
        tuple(sorted(set(args.slowdown))),
        profile.load(args.machine),
        args.seed,
        options.size(args),
    )
    search.check()
    return search


def _list(search: Sizing, kept: Sequence[Run]) -> int:
    """Print the runs that come first, and how many may follow."""
    for task in search.todo(kept):
        print(task.listing())
    least, most = (size // MIB for size in search.limits())
    print(
        f"then {', '.join(one.name for one in search.policies)} with fast memory from {least} MiB "
        f"to {float(HEADROOM):g} times the memory in use, {most} MiB at most, in {STEPS} steps"
    )
    print(f"{search.runs_at_most()} runs at most, fewer if bounds share sizes")
    duration.say([search.references()[0]] * search.runs_at_most())
    return 0


def _deliver(args: argparse.Namespace, base: dict[str, Any], search: Sizing) -> None:
    content = size_document.assemble(base, search, base["runs"])
    output.deliver(args, content, lambda: _print(content))


def _print(content: dict[str, Any]) -> None:
    runs = content["runs"]
    for line in size_table.heading(content):
        terminal.print_line(line)
    terminal.lists().print(size_table.table(content))
    remarks = [
        *size_table.remarks(content),
        *table.remarks(_answering(content)),
        *versions.lines(content),
        *inputs.lines(runs),
    ]
    for line in remarks:
        terminal.print_line(line)


def _answering(content: dict[str, Any]) -> list[Run]:
    """Return the runs that the table has figures of: all-fast, and those of the sizes found."""
    sizes = {(one["policy"], one["fast_bytes"]) for one in content[size_document.KEY]["answers"]}
    return [
        run
        for run in content["runs"]
        if run["policy"] == REFERENCE or (run["policy"], run["machine"]["fast_bytes"]) in sizes
    ]
