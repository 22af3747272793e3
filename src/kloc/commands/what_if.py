# SPDX-License-Identifier: GPL-2.0
"""`kloc what-if`: measures a workload with all pages of some kinds fast and all others slow."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from kloc.base import terminal
from kloc.commands import duration, options, output
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import record, what_if, workload
from kloc.measure.runner import Incomplete, Interrupted, prepare
from kloc.results import document, inputs, table

USAGE = ("[options] WORKLOAD",)

DESCRIPTION = """\
Measure the headroom of placement by page kind, before anyone implements it. Each row times other
page kinds as fast memory, and all others as slow memory, whatever the capacity of the tiers.
"""

EXAMPLES = (
    ("kloc what-if rocksdb", "print the table"),
    ("kloc what-if rocksdb --quick --report r.html", "a short run, with a report"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    options.add_workload(parser)
    options.add(parser.add_argument_group("measurement"), "seed", "length")
    options.add(parser.add_argument_group("machine"), "machine", "variant")
    options.add(parser.add_argument_group("output"), "json", "report", "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure all rows that can differ."""
    output.check(args)
    chosen = workload.load(args.workload)
    host, size = options.machine(args), options.size(args)
    if args.dry_run:
        rows = what_if.rows()
        tasks = what_if.tasks(rows, chosen, host, args.seed, size)
        for row, task in zip(rows, tasks, strict=True):
            print(f"{task.title()}: fast are {', '.join(row.fast) or 'none'}")
        print("after the first: oracle")
        duration.say([*tasks, tasks[0]])
        return 0
    parts = prepare([chosen])
    try:
        runs, skipped = what_if.run(chosen, host, args.seed, size, parts[chosen.name], args.follow)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _deliver(args, parts, ended.runs, [])
        raise
    _deliver(args, parts, runs, skipped)
    return 0


def _deliver(
    args: argparse.Namespace,
    parts: Mapping[str, Parts],
    runs: list[record.Run],
    skipped: Sequence[str],
) -> None:
    base = profile.load(args.machine)
    content = document.assemble(parts.values(), base.as_dict(), runs)
    output.deliver(args, content, lambda: _print(runs, skipped))


def _print(runs: list[record.Run], skipped: Sequence[str]) -> None:
    console = terminal.stdout()
    console.print(*table.comparisons(runs, console.width, first="pages that are fast"), sep="\n")
    remarks = [*table.remarks(runs), *what_if.remarks(runs, skipped), *inputs.lines(runs)]
    for line in remarks:
        terminal.print_line(line)
