# SPDX-License-Identifier: GPL-2.0
"""`kloc run`: measures one workload, or a program of the user's, under one policy."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kloc.base import files, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import completers, duration, fetched, options, output, own_program
from kloc.machine import guest_commands, launcher, profile
from kloc.machine.job import Job, Raw
from kloc.machine.parts import Parts, prepare_parts
from kloc.machine.profile import Profile
from kloc.measure import daemon_use, kernel_support, live, policy, record, workload
from kloc.measure.runner import Incomplete, Interrupted, measure, prepare
from kloc.measure.task import guest_key, listings, tasks
from kloc.measure.workload import Outcome
from kloc.results import document, inputs, table, versions

USAGE = ("[options] WORKLOAD", "[options] -- COMMAND [ARGUMENT...]")

DESCRIPTION = """\
Measure a workload, or a program of your own, under one policy, and print where its time went.

The command after '--' runs as root in the machine, which has Debian 13's libraries and none of
this host's files: --packages installs packages there, --copy copies files.
"""

EXAMPLES = (
    ("kloc run redis --policy tpp", "a workload"),
    ("kloc run -- sh -c 'seq 500000 | sort -n | tail -1'", "a program of Debian's"),
    ("kloc run --copy $PWD/prog -- $PWD/prog", "a program of your own"),
)

PROGRAM_OPTIONS: Mapping[str, object] = {
    "packages": (),
    "copy": [],
    "setup": None,
    "fetch": [],
    "with_kloc": False,
}
WORKLOAD_OPTIONS: Mapping[str, object] = {"quick": False, "long": False}
"""The options that only programs, or only workloads, have, with their defaults."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    workloads = group.add_argument(
        "workload",
        nargs="*",
        metavar="WORKLOAD",
        help="the workload to measure (kloc workloads lists them)",
    )
    completers.complete_names(workloads, workload.names)
    options.add(parser.add_argument_group("measurement"), "policy", "seeds", "length", "cold")
    options.add(parser.add_argument_group("machine"), "machine", "variant", "kernel")
    group = parser.add_argument_group("a program of your own")
    options.add(group, "packages", "copy")
    group.add_argument(
        "--setup",
        type=Path,
        metavar="SCRIPT",
        help="run this shell script before COMMAND; it is not measured",
    )
    group.add_argument(
        "--fetch",
        type=fetched.parse,
        action="append",
        default=[],
        metavar="PATH[:DEST]",
        help="after the measurement, copy a file or directory of the machine to DEST on this host "
        "(default: the current directory); can be repeated",
    )
    group.add_argument(
        "--with-kloc",
        action="store_true",
        help="install kloc's server commands, such as kloc status, in the machine; "
        "without this option it has them only if COMMAND is 'kloc'",
    )
    options.add(parser.add_argument_group("output"), "json", "report", "follow", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Measure the workload or the program."""
    output.check(args)
    if args.program is not None:
        return _run_program(args)
    if not args.workload:
        raise UsageError(
            "no workload and no program is given", "kloc run WORKLOAD, or kloc run -- COMMAND..."
        )
    name = args.workload[0]
    if own_program.exists(name) and not workload.is_file(name) and name not in workload.names():
        raise own_program.after_dashes(args.workload)
    if len(args.workload) > 1:
        raise UsageError(
            "more than one workload is given", "kloc compare measures several workloads"
        )
    options.refuse(
        args,
        PROGRAM_OPTIONS,
        "this is for a program of your own",
        "kloc run [options] -- COMMAND...",
    )
    return _run_workload(args, workload.load(name))


def _run_workload(args: argparse.Namespace, chosen: workload.Workload) -> int:
    host, kernel = options.machine(args), options.kernel(args)
    used = options.chosen_policy(args)
    todo = tasks([chosen], [used], host, options.seeds(args), options.size(args), args.cold)
    if args.dry_run:
        lines, estimated = listings(todo, [used])
        print(*lines, *daemon_use.listing([used]), sep="\n")
        duration.say(estimated, kernel=kernel)
        return 0
    parts = prepare([chosen], kernel, policies=[used])
    machine = parts[guest_key(chosen, used)]
    if kernel is not None:
        _check_policy(used, chosen.name, host, machine)
    try:
        runs = measure(todo, [used], parts, args.follow)
    except (Incomplete, Interrupted) as ended:
        if ended.runs:
            _deliver(args, machine, ended.runs)
        raise
    _deliver(args, machine, runs)
    return 0


def _run_program(args: argparse.Namespace) -> int:
    if args.workload:
        raise UsageError(
            "both a workload and a program are given",
            "kloc run WORKLOAD, or kloc run -- COMMAND...",
        )
    if not args.program:
        raise UsageError("no command after '--'", "kloc run [options] -- COMMAND...")
    options.refuse(
        args, WORKLOAD_OPTIONS, "a program of your own has only one size", "leave it out"
    )
    copies = options.copies(args)
    own_program.check(args.program, copies)
    _check_fetches(args)
    scripts = _scripts(args)
    host, kernel = options.machine(args), options.kernel(args)
    used = options.chosen_policy(args)
    if used.frames_from:
        raise KlocError(
            f"policy {used.name} cannot be run: it follows from the run of another policy",
            "kloc compare shows it",
        )
    with_kloc = args.with_kloc or args.program[0] == guest_commands.NAME
    job = Job(
        name=Path(args.program[0]).name,
        profile=host,
        scripts=scripts,
        settings=used.settings("", host),
        timing=used.timing,
        parameters=used.parameters,
        packages=(
            *options.packages(args),
            *used.packages,
            *(guest_commands.PACKAGES if with_kloc else ()),
        ),
        copies=copies,
        follow=args.follow,
        commands=with_kloc,
        **used.watching("", host),
    )
    jobs = [replace(job, seed=seed) for seed in options.seeds(args)]
    if args.dry_run:
        for one in jobs:
            print(
                f"{shlex.join(args.program)} under {used.name}, seed {one.seed}, "
                f"machine {host.title()}"
            )
        for line in daemon_use.listing([used]):
            print(line)
        return 0
    parts = prepare_parts(job.packages, foreign=kernel)
    if kernel is not None:
        _check_policy(used, "", job.profile, parts)
    runs: list[record.Run] = []
    printed: list[str] = []
    try:
        for one in jobs:
            raw = _measure_program(one, parts, args.follow)
            result = record.from_raw(one, used, Outcome(1, None), raw, cold=True)
            daemon_use.add_versions(result, used, parts)
            runs.append(result)
            printed.append(raw.frames.get("measured", ""))
    except (launcher.RunFailed, KeyboardInterrupt):
        if runs:
            _deliver(args, parts, runs, printed)
        raise
    try:
        _deliver(args, parts, runs, printed)
    finally:
        if args.fetch:
            fetched.write(args.fetch, raw.frames["check"])
    return 0


def _measure_program(job: Job, parts: Parts, follow: bool) -> Raw:
    """Measure the program once. An error that it ends with has its exit status."""
    title = f"running {job.name}, seed {job.seed}"
    with live.watching(title, None, follow) as watch:

        def show_progress(machine: launcher.Machine) -> None:
            watch.bar.description = (
                f"{title} ({machine.stage}, {machine.seconds:.2f} s of simulated time)"
            )
            watch.show({job.name: machine})

        try:
            return launcher.run(job, parts, show_progress)
        except launcher.RunFailed as failed:
            failed.status = failed.measured or failed.status
            raise


def _check_policy(used: policy.Policy, workload_name: str, host: Profile, parts: Parts) -> None:
    """Raise KlocError if the kernel of `parts` does not support the policy."""
    missing = kernel_support.unsupported([used], [workload_name], host, parts)
    kernel_support.require(missing, parts.kernel.release)


def _check_fetches(args: argparse.Namespace) -> None:
    """Raise an error unless all files of --fetch can be written."""
    if args.fetch and len(options.seeds(args)) > 1:
        raise UsageError("--fetch is for one run, and there are several seeds", "choose one seed")
    fetched.check(args.fetch)


def _scripts(args: argparse.Namespace) -> Mapping[str, str]:
    """Return the scripts of the program's job."""
    scripts = {"measured": shlex.join(args.program) + "\n"}
    if args.setup is not None:
        scripts["setup"] = files.read_text(options.existing(args.setup), "--setup")
    if args.fetch:
        scripts["check"] = fetched.script(args.fetch)
    return scripts


def _deliver(
    args: argparse.Namespace,
    parts: Parts,
    runs: Sequence[record.Run],
    printed: Sequence[str] = (),
) -> None:
    """Write and print the results; `printed` is what the program printed in each run."""
    base = profile.load(args.machine)
    content = document.assemble([parts], base.as_dict(), runs)
    if output.is_stdout(args):
        for text in printed:
            sys.stderr.write(text)
    output.deliver(args, content, lambda: _print(content, printed))


def _print(content: Mapping[str, Any], printed: Sequence[str]) -> None:
    """Print what the program printed, then the results of the runs."""
    runs = content["runs"]
    for text in filter(None, printed):
        print(text, end="" if text.endswith("\n") else "\n")
    console = terminal.stdout()
    console.print(*table.summaries(runs, console.width), sep="\n")
    for line in [*table.remarks(runs), *versions.lines(content), *inputs.lines(runs)]:
        terminal.print_line(line)
