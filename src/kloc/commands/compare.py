# SPDX-License-Identifier: GPL-2.0
"""`kloc compare`: measures workloads under several policies, or shows result files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.words import plural
from kloc.commands import options, output, values
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import kernel_support, policy, record, workload
from kloc.measure.runner import Incomplete, Interrupted, at_once, measure, prepare
from kloc.measure.task import Task, tasks
from kloc.results import details, document, inputs, table

USAGE = ("[options] WORKLOAD...", "[--json FILE] [--report FILE] RESULT.json...")

DESCRIPTION = """\
Measure workloads under several policies, and print their throughput side by side.

With result files instead of workloads, nothing is run. Comparable results are printed in one
table. Results of different machines or versions are printed separately, with their differences.
"""

EXAMPLES = (
    ("kloc compare rocksdb redis", "nine policies, one seed"),
    ("kloc compare redis --policies tpp,kloc --seeds 3", "median of three seeds"),
    ("kloc compare a.json b.json --report r.html", "show files of --json"),
)

RUN_OPTIONS: Mapping[str, object] = {
    "policies": (),
    "machine": profile.DEFAULT,
    "fast": (None,),
    "slow_bandwidth": (None,),
    "kernel": None,
    "seeds": 1,
    "quick": False,
    "long": False,
    "cold": False,
    "follow": False,
    "dry_run": False,
}
"""The options that only make sense for workloads, with their defaults."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    workloads = group.add_argument(
        "workloads",
        nargs="+",
        metavar="WORKLOAD",
        help="a workload to measure (kloc workloads lists them), or a result file (.json) to show",
    )
    options.complete_names(workloads, workload.names, ".json")
    group = parser.add_argument_group("measurement")
    policies = group.add_argument(
        "--policies",
        type=values.comma_list,
        default=(),
        metavar="A,B",
        help=f"the policies to compare (default: {', '.join(policy.COMPARED)})",
    )
    options.complete_names(policies, policy.names)
    group.add_argument(
        "--seeds",
        type=values.whole_number(1, options.SEED_MAX),
        default=1,
        metavar="N",
        help="measure the random seeds 1 to N (default: %(default)s)",
    )
    options.add(group, "length", "cold")
    options.add(parser.add_argument_group("machine"), "machine", "variants", "kernel")
    group = parser.add_argument_group("output")
    options.add(group, "json", "report")
    group.add_argument(
        "--details",
        action="store_true",
        help="print warm-ups, migrations and the workloads' own figures, too",
    )
    options.add(group, "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure the workloads, or show the result files."""
    files = [name for name in args.workloads if name.endswith(".json")]
    if files and len(files) < len(args.workloads):
        raise UsageError(
            "workloads and result files cannot be mixed",
            "kloc compare WORKLOAD..., or kloc compare A.json B.json...",
        )
    output.check(args)
    if files:
        options.refuse(args, RUN_OPTIONS, "result files are shown, nothing is run", "leave it out")
        return _compare_files(args, [Path(name) for name in files])
    policies = [policy.load(name) for name in _unique(args.policies or policy.COMPARED)]
    workloads = [workload.load(name) for name in _unique(args.workloads)]
    hosts, kernel = options.machines(args), options.kernel(args)
    if args.dry_run:
        return _list_tasks(_tasks(args, hosts, workloads, policies))
    parts = prepare(workloads, kernel)
    missing = _unsupported(hosts, workloads, policies, parts)
    policies = [one for one in policies if one.name not in missing]
    todo = _tasks(args, hosts, workloads, policies)
    notes = [kernel_support.note(missing)] if missing else []
    try:
        _deliver(args, parts, measure(todo, policies, parts, args.follow), notes)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _deliver(args, parts, ended.runs, notes)
        raise
    return 0


def _tasks(
    args: argparse.Namespace,
    hosts: Sequence[profile.Profile],
    workloads: Sequence[workload.Workload],
    policies: Sequence[policy.Policy],
) -> list[Task]:
    seeds = range(1, args.seeds + 1)
    return [
        task
        for host in hosts
        for task in tasks(workloads, policies, host, seeds, options.size(args), args.cold)
    ]


def _unsupported(
    hosts: Sequence[profile.Profile],
    workloads: Sequence[workload.Workload],
    policies: Sequence[policy.Policy],
    parts: Mapping[str, Parts],
) -> dict[str, str]:
    """Return what the kernel lacks for each policy that it does not support.

    Raises KlocError if it supports none of them.
    """
    machine = next(iter(parts.values()))
    names = [one.name for one in workloads]
    missing = kernel_support.unsupported(policies, names, hosts[0], machine)
    if len(missing) == len(policies):
        kernel_support.require(missing, machine.kernel.release)
    return missing


def _deliver(
    args: argparse.Namespace,
    parts: Mapping[str, Parts],
    runs: list[record.Run],
    notes: Sequence[str],
) -> None:
    """Print and write the results, whose runs all get `notes`."""
    base = profile.load(args.machine)
    noted = [{**run, "notes": [*run["notes"], *notes]} for run in runs]
    content = document.assemble(parts.values(), base.as_dict(), noted)
    output.deliver(args, content, lambda: _print_runs(noted, args.details))


def _list_tasks(todo: list[Task]) -> int:
    for task in todo:
        print(task.listing())
    print(f"{plural(len(todo), 'run')}, {at_once(todo)} at once")
    return 0


def _compare_files(args: argparse.Namespace, paths: list[Path]) -> int:
    for option, path in (("--json", args.json), ("--report", args.report)):
        if path and path.resolve() in [result.resolve() for result in paths]:
            raise KlocError(f"{option} {path} would replace the result file", "name another file")
    contents = [document.read(path) for path in paths]
    names = [str(path) for path in paths]
    for name, content in zip(names, contents, strict=True):
        if document.is_object_document(content):
            return _report_objects(args, name, contents)
    if (joined := document.join(contents)) is not None:
        names, contents = [", ".join(names)], [joined]
    if args.json is not None and len(contents) > 1:
        raise KlocError(
            f"--json {args.json}: one file cannot hold results that are not comparable",
            "without --json, kloc compare prints their differences",
        )
    output.deliver(args, contents[0], lambda: _print_files(names, contents, args.details))
    return 0


def _report_objects(args: argparse.Namespace, name: str, contents: list[dict[str, Any]]) -> int:
    """Write the report of a result file of `kloc objects`, which has no runs to show."""
    if args.report is None or args.json is not None or len(contents) > 1:
        raise KlocError(
            f"{name} is a result of kloc objects, and has no runs to compare",
            "kloc compare FILE --report OUT.html writes a report of it",
        )
    output.deliver(args, contents[0], lambda: None)
    return 0


def _print_files(names: list[str], contents: list[dict[str, Any]], with_details: bool) -> None:
    """Print the table of each file, then the differences of each to the first one."""
    for name, content in zip(names, contents, strict=True):
        terminal.stdout().print(f"{name}:", markup=False)
        _print_runs(content["runs"], with_details)
    for name, content in zip(names[1:], contents[1:], strict=True):
        if differences := document.differences(contents[0], content):
            print(f"{names[0]} and {name} differ in:")
            print("\n".join(f"  {line}" for line in differences))
        else:
            print(f"{names[0]} and {name}: {_same(contents[0]['runs'], content['runs'])}")


def _same(one: list[record.Run], other: list[record.Run]) -> str:
    """Return what two sets of runs without known differences have in common."""
    prints = [inputs.fingerprint(runs) for runs in (one, other)]
    return "same machine, same versions" + (
        ", same inputs" if prints[0] and prints[0] == prints[1] else ""
    )


def _print_runs(runs: list[record.Run], with_details: bool) -> None:
    console = terminal.stdout()
    console.print(*table.comparisons(runs, console.width), sep="\n")
    if with_details:
        console.print(details.details(runs))
    for line in [*table.remarks(runs), *inputs.lines(runs)]:
        console.print(line, markup=False)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
