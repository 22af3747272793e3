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
from kloc.commands import completers, options, output, stored_results, values
from kloc.heat import records
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import kernel_support, policy, record, resume, workload
from kloc.measure.runner import Incomplete, Interrupted, at_once, measure, prepare
from kloc.measure.task import Task, tasks
from kloc.results import ahead, core_time, details, document, efficiency, inputs, table, versions
from kloc.results.growing_file import GrowingFile

USAGE = ("[options] WORKLOAD...", "[--json FILE] [--report FILE] RESULT.json...")

DESCRIPTION = """\
Measure workloads under several policies, and print their throughput side by side.

With result files instead of workloads, nothing is run. Comparable results are printed in one
table. Results of different machines or versions are printed separately, with their differences.
"""

EXAMPLES = (
    ("kloc compare rocksdb redis", f"{len(policy.COMPARED)} policies, one seed"),
    ("kloc compare redis --policies tpp,kloc --seeds 3", "median of three seeds"),
    ("kloc compare a.json b.json --report r.html", "show files of --json"),
)

RUN_OPTIONS: Mapping[str, object] = {
    "policies": (),
    "machine": profile.DEFAULT,
    "fast": (None,),
    "slow_bandwidth": (None,),
    "kernel": None,
    "seeds": (1,),
    "seed": None,
    "quick": False,
    "long": False,
    "cold": False,
    "follow": False,
    "resume": None,
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
    completers.complete_names(workloads, workload.names, ".json")
    group = parser.add_argument_group("measurement")
    policies = group.add_argument(
        "--policies",
        type=values.comma_list,
        default=(),
        metavar="A,B",
        help=f"the policies to compare (default: {', '.join(policy.COMPARED)})",
    )
    completers.complete_names(policies, policy.names)
    seeds = group.add_mutually_exclusive_group()
    seeds.add_argument(
        "--seeds",
        type=values.seeds,
        default=(1,),
        metavar="N|A-B|A,B",
        help="measure several random seeds: 3 (these are 1 to 3), 4-6 or 1,3,7 (default: 1)",
    )
    seeds.add_argument(
        "--seed",
        type=values.whole_number(0, values.SEED_MAX),
        metavar="N",
        help="measure this random seed",
    )
    options.add(group, "length", "cold")
    options.add(parser.add_argument_group("machine"), "machine", "variants", "kernel")
    group = parser.add_argument_group("output")
    against = group.add_argument(
        "--against",
        metavar="POLICY",
        help="the baseline of the ratios seed by seed (default: the first measured one of "
        f"{', '.join(ahead.BASELINES)})",
    )
    completers.complete_names(against, policy.names)
    options.add(group, "json", "report")
    heatmaps = group.add_argument(
        "--heatmaps",
        type=values.comma_list,
        default=(),
        metavar="A.json,B.json",
        help="with --report: show these heat maps, too, which kloc heatmap --json has written",
    )
    completers.complete_names(heatmaps, list, ".json")
    group.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="continue the comparison in FILE, which --json has written: measure only what it "
        "lacks, and write all results to it (or to the FILE of --json)",
    )
    group.add_argument(
        "--details",
        action="store_true",
        help="print warm-ups, migrations, the workloads' own figures, and where the time of the "
        "cores went, too",
    )
    options.add(group, "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure the workloads, or show the result files."""
    shown = [name for name in args.workloads if name.endswith(".json")]
    if shown and len(shown) < len(args.workloads):
        raise UsageError(
            "workloads and result files cannot be mixed",
            "kloc compare WORKLOAD..., or kloc compare A.json B.json...",
        )
    if args.resume and args.json is None:
        args.json = args.resume
    output.check(args)
    # Before anything runs, so that a wrong file costs nothing.
    args.heat = _heatmaps(args)
    if shown:
        options.refuse(args, RUN_OPTIONS, "result files are shown, nothing is run", "leave it out")
        return _compare_files(args, [Path(name) for name in shown])
    policies = [policy.load(name) for name in _unique(args.policies or policy.COMPARED)]
    _check_baseline(args.against, [one.name for one in policies])
    workloads = [workload.load(name) for name in _unique(args.workloads)]
    hosts, kernel = options.machines(args), options.kernel(args)
    todo = _tasks(args, hosts, workloads, policies)
    stored = _stored(args, todo)
    if args.dry_run:
        return _list_tasks(_missing(todo, policies, stored), policies)
    parts = prepare(workloads, kernel)
    missing = _unsupported(hosts, workloads, policies, parts)
    policies = [one for one in policies if one.name not in missing]
    todo = _tasks(args, hosts, workloads, policies)
    notes = [kernel_support.note(missing)] if missing else []
    _measure(args, parts, todo, policies, stored, notes)
    return 0


def _heatmaps(args: argparse.Namespace) -> dict[str, Any]:
    """Return what --heatmaps adds to the report. Raises an error if a file has no heat map."""
    if args.heatmaps and args.report is None:
        raise UsageError("--heatmaps shows heat maps in a report", "name its file with --report")
    found = [records.read(Path(name)) for name in args.heatmaps]
    return {"heatmaps": found} if found else {}


def _stored(args: argparse.Namespace, todo: Sequence[Task]) -> dict[str, Any] | None:
    """Return the document that --resume names, None without this option."""
    if args.resume is None:
        replaced = args.json and not (args.dry_run or output.is_stdout(args))
        if replaced and args.json.exists():
            terminal.say(
                f"{args.json} exists and will be replaced; --resume {args.json} would continue it"
            )
        return None
    if args.report and args.report.resolve() == args.resume.resolve():
        raise KlocError(f"--report {args.report} would replace the result file", "name another one")
    stored = stored_results.read(args.resume)
    stored_results.check_size(args.resume, stored, todo)
    return stored


def _missing(
    todo: list[Task], policies: Sequence[policy.Policy], stored: Mapping[str, Any] | None
) -> list[Task]:
    known = {record.identity(run) for run in stored["runs"]} if stored else set()
    return resume.missing(todo, policies, known)


def _measure(
    args: argparse.Namespace,
    parts: Mapping[str, Parts],
    todo: list[Task],
    policies: Sequence[policy.Policy],
    stored: Mapping[str, Any] | None,
    notes: Sequence[str],
) -> None:
    """Measure what `stored` lacks; write all results after every run, and print them at the end."""
    base = profile.load(args.machine).as_dict()
    empty = document.assemble(parts.values(), base, [])
    kept: list[record.Run] = []
    if stored:
        stored_results.check_inputs(args.resume, stored, empty, todo, policies, parts)
        empty, kept = document.with_guests_of(empty, stored), stored["runs"]
        count = len(_missing(todo, policies, stored))
        terminal.say(f"{args.resume} has {plural(len(kept), 'run')}, {count} are to be measured")

    def content(runs: Iterable[record.Run]) -> dict[str, Any]:
        return {**empty, "runs": [_noted(run, notes) for run in runs]}

    path = args.resume if output.is_stdout(args) else args.json
    file = GrowingFile(path) if path else None

    def save(runs: list[record.Run]) -> None:
        try:
            if file:
                file.write(content(runs))
        except KlocError as error:
            # The results are kept in memory, and written again after the next run.
            terminal.say(f"{error.message}; the measurement continues")

    try:
        runs = measure(todo, policies, parts, args.follow, kept, save)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _deliver(args, content(ended.runs))
        raise
    _deliver(args, content(runs))


def _tasks(
    args: argparse.Namespace,
    hosts: Sequence[profile.Profile],
    workloads: Sequence[workload.Workload],
    policies: Sequence[policy.Policy],
) -> list[Task]:
    seeds = args.seeds if args.seed is None else (args.seed,)
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


def _noted(run: record.Run, notes: Sequence[str]) -> record.Run:
    """Return the run with `notes`, those that it already has only once."""
    new = [note for note in notes if note not in run["notes"]]
    return {**run, "notes": [*run["notes"], *new]}


def _deliver(args: argparse.Namespace, content: dict[str, Any]) -> None:
    content = _with_ratios(content, args.against)
    output.deliver(args, content, lambda: _print_runs(content, args), only_report=args.heat)


def _with_ratios(content: Mapping[str, Any], against: str | None) -> dict[str, Any]:
    """Return the document with the ratios to its baselines."""
    return efficiency.included(ahead.included(content, against), against)


def _list_tasks(todo: list[Task], policies: Sequence[policy.Policy]) -> int:
    lines = []
    for task in todo:
        lines.append(task.listing())
        after = [one.name for one in policies if one.frames_from == task.policy.name]
        lines += [f"{task.listing(name)}, after {task.policy.name}" for name in after]
    for line in lines:
        print(line)
    total = f"{plural(len(lines), 'run')}, {min(len(todo), at_once(todo))} at once"
    # With --resume, there may be nothing left to do.
    if todo:
        size = todo[0].size
        total += f"; regions of {size.seconds:g} s, {100 * size.load:g} % of the data"
    print(total)
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
    for content in contents:
        _check_baseline(args.against, [one["policy"] for one in content["runs"]])
    contents = [_with_ratios(content, args.against) for content in contents]
    output.deliver(
        args,
        contents[0],
        lambda: _print_files(names, contents, args),
        only_report=args.heat,
    )
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


def _check_baseline(against: str | None, measured: Sequence[str]) -> None:
    """Raise UsageError if the user has chosen a baseline that is not among the policies."""
    if against is not None and against not in measured:
        raise UsageError(
            f"--against {against}: this policy is not among those that are compared",
            f"compared: {', '.join(_unique(measured))}",
        )


def _print_files(
    names: list[str], contents: list[dict[str, Any]], args: argparse.Namespace
) -> None:
    """Print the table of each file, then the differences of each to the first one."""
    for name, content in zip(names, contents, strict=True):
        terminal.stdout().print(f"{name}:", markup=False)
        _print_runs(content, args)
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


def _print_runs(content: Mapping[str, Any], args: argparse.Namespace) -> None:
    """Print a document: tables, the ratios to the baseline, details, and notes."""
    console, runs = terminal.stdout(), content["runs"]
    console.print(*table.comparisons(runs, console.width), sep="\n")
    console.print(*efficiency.tables(runs, args.against), sep="\n", end="")
    if ratios := ahead.lines(content, args.against):
        # Each line is whole: a narrow terminal would break it where a program looks for it.
        console.print(*ratios, "", sep="\n", markup=False, highlight=False, soft_wrap=True)
    if args.details:
        console.print(details.details(runs), *core_time.tables(runs, console.width), sep="\n")
    for line in [*table.remarks(runs), *versions.lines(content), *inputs.lines(runs)]:
        console.print(line, markup=False)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
