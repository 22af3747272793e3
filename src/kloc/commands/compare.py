# SPDX-License-Identifier: GPL-2.0
"""`kloc compare`: measures workloads under several policies, or shows result files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kloc.base import cache, files, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.words import plural
from kloc.commands import (
    completers,
    duration,
    options,
    output,
    preliminary,
    stored_results,
    values,
)
from kloc.commands.measuring import Measurement
from kloc.heat import records
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import daemon_use, kernel_support, policy, record, resume, workload
from kloc.measure.runner import Incomplete, Interrupted, at_once, prepare
from kloc.measure.task import Task, listings, tasks
from kloc.results import ahead, document, inputs, printed

USAGE = ("[options] WORKLOAD...", "[--json|--report|--picture FILE]... RESULT.json...")

DESCRIPTION = """\
Measure workloads under several policies, and print their throughput side by side.

The last line is a link to an HTML report: the file of --report, or last/compare.html in the cache
directory.

With result files instead of workloads, nothing is run. Comparable results are printed in one
table. Results of different machines or versions are printed separately, with their differences.
"""

EXAMPLES = (
    ("kloc compare rocksdb redis", f"{len(policy.COMPARED)} policies, one seed"),
    ("kloc compare redis --policies tpp,kloc --seeds 3", "median of three seeds"),
    ("kloc compare a.json b.json --picture ab.svg", "show files, and draw them"),
)

LAST = "last"
"""The directory in the cache directory that has the last results and their report."""

KEPT: Mapping[str, str] = {"json": "compare.json", "report": "compare.html"}
"""The options of which the files are in LAST if they are not given, and the files' names."""

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
        action=values.AddUp,
        default=(),
        metavar="A,B",
        help=f"the policies to compare (default: {', '.join(policy.COMPARED)})",
    )
    completers.complete_names(policies, policy.names)
    options.add(group, "seeds", "length", "cold")
    group.add_argument(
        "--native",
        action="store_true",
        help="measure on this server itself, or a program of your own there: "
        "kloc compare --native --help",
    )
    options.add(parser.add_argument_group("machine"), "machine", "variants", "kernel")
    group = parser.add_argument_group("output")
    against = group.add_argument(
        "--against",
        metavar="POLICY",
        help="the baseline of the ratios seed by seed (default: the first measured one of "
        f"{', '.join(ahead.BASELINES)})",
    )
    completers.complete_names(against, policy.names)
    options.add(group, "json", "report", "picture")
    heatmaps = group.add_argument(
        "--heatmaps",
        type=values.comma_list,
        action=values.AddUp,
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
    if args.native:
        # With the whole word, another module has been run (Command.forms).
        raise UsageError("--native is abbreviated", "write the whole word")
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
    stored = stored_results.chosen(args, todo)
    if args.dry_run:
        if stored:
            _check_stored(args, stored, todo, workloads, policies)
        return _list_tasks(_missing(todo, policies, stored), policies, kernel)
    _keep(args)
    # With --resume, there are figures; and a program that reads stdout waits for all of them.
    is_first = kernel is None and stored is None and not output.is_stdout(args)
    first = preliminary.figures(todo if is_first else [])
    parts = prepare(workloads, kernel, first, policies)
    missing = _unsupported(hosts, workloads, policies, parts)
    policies = [one for one in policies if one.name not in missing]
    todo = _tasks(args, hosts, workloads, policies)
    notes = [kernel_support.note(missing)] if missing else []
    _measure(args, parts, todo, policies, stored, notes)
    return 0


def _keep(args: argparse.Namespace) -> None:
    """Let results and report be kept in the cache directory, unless options name their files.

    So a measurement that took an hour has a report even if nobody asked for one before, and one
    that was stopped can be resumed. The next comparison replaces them. Nothing is kept if a program
    reads the results from stdout, or if the directory cannot be written.
    """
    args.kept = set()
    if output.is_stdout(args) or not cache.is_writable():
        return
    for option, name in KEPT.items():
        if getattr(args, option) is None:
            path = cache.directory() / LAST / name
            with suppress(KlocError, OSError):
                path.parent.mkdir(exist_ok=True)
                files.check_writable(f"--{option}", path)
                files.keep_silently(path)
                setattr(args, option, path)
                args.kept.add(option)


def _heatmaps(args: argparse.Namespace) -> dict[str, Any]:
    """Return what --heatmaps adds to the report. Raises an error if a file has no heat map."""
    if args.heatmaps and args.report is None:
        raise UsageError("--heatmaps shows heat maps in a report", "name its file with --report")
    found = [records.read(Path(name)) for name in args.heatmaps]
    return {"heatmaps": found} if found else {}


def _check_stored(
    args: argparse.Namespace,
    stored: Mapping[str, Any],
    todo: Sequence[Task],
    workloads: Sequence[workload.Workload],
    policies: Sequence[policy.Policy],
) -> None:
    """Raise KlocError if `stored` has other versions or inputs than the comparison would have.

    Nothing is built for that: what is not in the cache is said to be unchecked.
    """
    unchecked = (
        f"whether {args.resume} has the versions and inputs of today is not checked: the machine "
        "is not built yet"
    )
    with cache.dry_run() as needed:
        try:
            parts = prepare(workloads, args.kernel, policies=policies)
            empty = document.assemble(parts.values(), profile.load(args.machine).as_dict(), [])
        except (OSError, KlocError):
            terminal.say(unchecked)
            return
        if all(entry.exists() for entry in needed):
            try:
                stored_results.check_inputs(args.resume, stored, empty, todo, policies, parts)
            except OSError:
                # The disk of a workload is not prepared.
                terminal.say(unchecked)
        else:
            terminal.say(unchecked)


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
    path = args.resume if output.is_stdout(args) else args.json
    if args.resume:
        files.continue_file(args.resume)
    host = profile.load(args.machine)
    measurement = Measurement(todo, policies, parts, host, path, stored, args.resume, notes)
    try:
        runs = measurement.run(args.follow)
    except (Incomplete, Interrupted) as ended:
        if isinstance(ended, Interrupted) and "report" in args.kept:
            # Who presses Ctrl-C does not wait for a drawing that nobody asked for.
            args.report = None
        if ended.runs:
            _deliver(args, measurement.content(ended.runs))
        raise
    _deliver(args, measurement.content(runs))


def _tasks(
    args: argparse.Namespace,
    hosts: Sequence[profile.Profile],
    workloads: Sequence[workload.Workload],
    policies: Sequence[policy.Policy],
) -> list[Task]:
    seeds = options.seeds(args)
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


def _deliver(args: argparse.Namespace, content: dict[str, Any]) -> None:
    content = printed.with_ratios(content, args.against)
    output.deliver(args, content, lambda: _print_runs(content, args), only_report=args.heat)


def _list_tasks(todo: list[Task], policies: Sequence[policy.Policy], kernel: str | None) -> int:
    lines, runs = listings(todo, policies)
    print(*lines, *daemon_use.listing(policies), sep="\n", end="\n" if lines else "")
    total = f"{plural(len(lines), 'run')}, {min(len(todo), at_once(todo))} at once"
    # With --resume, there may be nothing left to do.
    if todo:
        size = todo[0].size
        total += f"; regions of {size.seconds:g} s, {100 * size.load:g} % of the data"
    print(total)
    duration.say(runs, kernel=kernel)
    return 0


def _compare_files(args: argparse.Namespace, paths: list[Path]) -> int:
    for option in ("json", "report", "picture"):
        path = getattr(args, option)
        if path and path.resolve() in [result.resolve() for result in paths]:
            raise KlocError(f"--{option} {path} would replace the result file", "name another file")
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
    contents = [printed.with_ratios(content, args.against) for content in contents]
    output.deliver(
        args,
        contents[0],
        lambda: _print_files(names, contents, args),
        only_report=args.heat,
    )
    return 0


def _report_objects(args: argparse.Namespace, name: str, contents: list[dict[str, Any]]) -> int:
    """Write the report of a result file of `kloc objects`, which has no runs to show."""
    others = args.json is not None or args.picture is not None
    if args.report is None or others or len(contents) > 1:
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
            f"add it to --policies, or name one of {', '.join(_unique(measured))}",
        )


def _print_files(
    names: list[str], contents: list[dict[str, Any]], args: argparse.Namespace
) -> None:
    """Print the table of each file, then the differences of each to the first one."""
    for name, content in zip(names, contents, strict=True):
        terminal.print_line(f"{name}:")
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
    printed.show(content, terminal.stdout(), args.against, args.details)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
