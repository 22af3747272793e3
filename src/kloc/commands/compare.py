# SPDX-License-Identifier: GPL-2.0
"""kloc compare: workloads under several policies, in one table; or two result files."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from kloc import policy, profile, result, table, ui, workload
from kloc.errors import KlocError
from kloc.measure import Task, at_once, measure, prepare, tasks

NAME = "compare"
HELP = "measure workloads under several policies, and show them side by side"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "workloads", nargs="+", metavar="WORKLOAD", help="what to run; or two result files (.json)"
    )
    parser.add_argument(
        "--policies", metavar="A,B", help=f"which to compare (default: {','.join(policy.COMPARED)})"
    )
    parser.add_argument(
        "--machine", default=profile.DEFAULT, metavar="M", help="the machine (default: %(default)s)"
    )
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="seeds 1 to N (default: %(default)s)"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--quick", action="store_true", help="a quarter of the load and of the measured region"
    )
    length.add_argument("--long", action="store_true", help="ten times the measured region")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there as well")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    if all(name.endswith(".json") for name in args.workloads):
        return _compare_files([Path(name) for name in args.workloads])
    if args.seeds < 1:
        raise KlocError(f"--seeds {args.seeds}: there must be at least one")
    policies = [
        policy.load(name)
        for name in _unique(args.policies.split(",") if args.policies else policy.COMPARED)
    ]
    workloads = [workload.load(name) for name in _unique(args.workloads)]
    host = profile.load(args.machine)
    todo = tasks(workloads, policies, host, range(1, args.seeds + 1), chosen_size(args))
    if args.dry_run:
        return _show(todo)
    parts = prepare(workloads)
    runs = measure(todo, policies, parts)
    if args.json:
        result.write(args.json, result.document(parts.values(), asdict(host), runs))
    _print(runs)
    return 0


def chosen_size(args: argparse.Namespace) -> workload.Size:
    """Return the size that --quick, --long or neither asks for."""
    return workload.QUICK if args.quick else workload.LONG if args.long else workload.FULL


def _show(todo: list[Task]) -> int:
    for task in todo:
        print(f"{task.title()}, machine {task.profile.name}")
    print(f"{len(todo)} runs, {at_once(todo[0].profile)} at once")
    return 0


def _compare_files(paths: list[Path]) -> int:
    if len(paths) != 2:
        raise KlocError("two result files can be compared", "kloc compare A.json B.json")
    contents = [result.read(path) for path in paths]
    for path, content in zip(paths, contents, strict=True):
        ui.console_out().print(f"{path}:", markup=False)
        _print(content["runs"])
    differences = result.differences(*contents)
    print(
        "\n".join(["they differ in:", *(f"  {line}" for line in differences)])
        if differences
        else "same machine, same versions"
    )
    return 0


def _print(runs: list[result.Run]) -> None:
    ui.console_out().print(table.comparison(runs))
    for line in table.remarks(runs):
        ui.console_out().print(line, markup=False)


def _unique(names: list[str] | tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(names))
