# SPDX-License-Identifier: GPL-2.0
"""kloc compare: workloads under several policies, in one table; or result files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import options
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import policy, record, workload
from kloc.measure.runner import Incomplete, Interrupted, at_once, measure, prepare
from kloc.measure.task import Task, tasks
from kloc.results import document, table

NAME = "compare"
HELP = "measure workloads under several policies, and show them side by side"

OF_RUNS: Mapping[str, object] = {
    "policies": None,
    "machine": profile.DEFAULT,
    "fast": (None,),
    "slow_bandwidth": (None,),
    "seeds": 1,
    "quick": False,
    "long": False,
    "json": None,
    "follow": False,
    "dry_run": False,
}
"""The options that say what is run, with their defaults; files of results take none of them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    what = parser.add_argument(
        "workloads",
        nargs="+",
        metavar="WORKLOAD",
        help="what to run; or result files (.json), to see what is in them: in one table, "
        "or if their machines or versions differ, apart, and how; with --report, a report of "
        "that table, or of the first",
    )
    options.completes(what, workload.names, ".json")
    policies = parser.add_argument(
        "--policies", metavar="A,B", help=f"which to compare (default: {','.join(policy.COMPARED)})"
    )
    options.completes(policies, policy.names)
    options.add(parser, "machine", "variants")
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="seeds 1 to N (default: %(default)s)"
    )
    options.add(parser, "length", "json", "report", "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    files = [name for name in args.workloads if name.endswith(".json")]
    if files and len(files) < len(args.workloads):
        raise KlocError(
            "workloads are run, and result files are shown, not both at once",
            "kloc compare WORKLOAD..., or kloc compare A.json B.json...",
        )
    options.check_outputs(args)
    if files:
        options.refuse(args, OF_RUNS, "nothing is run where result files are shown", "leave it out")
        return _compare_files(args, [Path(name) for name in files])
    if args.seeds < 1:
        raise KlocError(f"--seeds {args.seeds}: there must be at least one")
    policies = [
        policy.load(name)
        for name in _unique(args.policies.split(",") if args.policies else policy.COMPARED)
    ]
    workloads = [workload.load(name) for name in _unique(args.workloads)]
    seeds = range(1, args.seeds + 1)
    todo = [
        task
        for host in options.machines(args)
        for task in tasks(workloads, policies, host, seeds, options.size(args))
    ]
    if args.dry_run:
        return _list(todo)
    parts = prepare(workloads)
    try:
        _show(args, parts, measure(todo, policies, parts, args.follow))
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _show(args, parts, ended.runs)
        raise
    return 0


def _show(args: argparse.Namespace, parts: Mapping[str, Parts], runs: list[record.Run]) -> None:
    base = profile.load(args.machine)
    made = document.assemble(parts.values(), asdict(base), runs)
    options.deliver(args, made, lambda: _print(runs))


def _list(todo: list[Task]) -> int:
    for task in todo:
        print(f"{task.title()}, machine {task.profile.title()}")
    print(f"{len(todo)} runs, {at_once(todo)} at once")
    return 0


def _compare_files(args: argparse.Namespace, paths: list[Path]) -> int:
    if args.report and args.report.resolve() in [path.resolve() for path in paths]:
        raise KlocError(f"--report {args.report} would replace the result file", "name another one")
    contents = [document.read(path) for path in paths]
    names = [str(path) for path in paths]
    for name, content in zip(names, contents, strict=True):
        if document.is_of_objects(content):
            return _report_objects(args, name, contents)
    if (joined := document.joined(contents)) is not None:
        names, contents = [", ".join(names)], [joined]
    options.write_outputs(args, contents[0])
    for name, content in zip(names, contents, strict=True):
        terminal.stdout().print(f"{name}:", markup=False)
        _print(content["runs"])
    for name, content in zip(names[1:], contents[1:], strict=True):
        _print_differences(names[0], contents[0], name, content)
    return 0


def _report_objects(args: argparse.Namespace, name: str, contents: list[dict[str, Any]]) -> int:
    """Write the report of what `kloc objects` found, which is all that can be done with it."""
    if args.report is None or len(contents) > 1:
        raise KlocError(
            f"{name} is of kloc objects: it has no runs to show or compare",
            "kloc compare FILE --report OUT.html makes a report of it",
        )
    options.write_outputs(args, contents[0])
    return 0


def _print_differences(name: str, one: dict[str, Any], other_name: str, other: Any) -> None:
    if differences := document.differences(one, other):
        print(f"{name} and {other_name} differ in:")
        print("\n".join(f"  {line}" for line in differences))
    else:
        print(f"{name} and {other_name}: same machine, same versions")


def _print(runs: list[record.Run]) -> None:
    console = terminal.stdout()
    console.print(*table.comparisons(runs, console.width), sep="\n")
    for line in table.remarks(runs):
        terminal.stdout().print(line, markup=False)


def _unique(names: list[str] | tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(names))
