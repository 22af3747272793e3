# SPDX-License-Identifier: GPL-2.0
"""kloc run: one workload, or a program of one's own, under one policy."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import options
from kloc.machine import guest_commands, launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import Parts, prepare_parts
from kloc.measure import live, policy, record, workload
from kloc.measure.runner import measure, prepare
from kloc.measure.task import tasks
from kloc.measure.workload import Outcome
from kloc.results import document, table

NAME = "run"
HELP = "measure one workload, or a program of your own after '--', under one policy"
TAKES_PROGRAM = True

OF_PROGRAMS: Mapping[str, object] = {"packages": (), "copy": [], "setup": None, "with_kloc": False}
OF_WORKLOADS = {"quick": False, "long": False}
"""What goes with the one and not with the other, with its defaults."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    what = parser.add_argument("workload", nargs="?", metavar="WORKLOAD", help="what to run")
    options.completes(what, workload.names)
    options.add(parser, "policy", "machine", "variant", "seed", "length")
    options.add(parser, "json", "report", "follow", "dry-run")
    own = parser.add_argument_group("a program of your own (kloc run [...] -- COMMAND...)")
    options.add(own, "packages", "copy")
    own.add_argument(
        "--setup", type=Path, metavar="SCRIPT", help="a shell script to run before, not measured"
    )
    own.add_argument(
        "--with-kloc",
        action="store_true",
        help="have kloc's own commands there, such as kloc status; COMMAND 'kloc' has them anyway",
    )


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    options.check_outputs(args)
    chosen = policy.load(args.policy)
    host = options.machine(args)
    if args.program is not None:
        return _run_program(args, chosen, host)
    if args.workload is None:
        raise KlocError("nothing to run", "kloc run WORKLOAD, or kloc run -- COMMAND...")
    options.refuse(
        args, OF_PROGRAMS, "this goes with a program of your own", "kloc run [...] -- COMMAND..."
    )
    return _run_workload(args, chosen, host)


def _run_workload(args: argparse.Namespace, chosen: policy.Policy, host: profile.Profile) -> int:
    what = workload.load(args.workload)
    todo = tasks([what], [chosen], host, [args.seed], options.size(args))
    if args.dry_run:
        print("\n".join(f"{task.title()}, machine {host.title()}" for task in todo))
        return 0
    parts = prepare([what])
    (measured,) = measure(todo, [chosen], parts, args.follow)
    return _show(args, parts[what.name], measured)


def _run_program(args: argparse.Namespace, chosen: policy.Policy, host: profile.Profile) -> int:
    if args.workload is not None or not args.program:
        raise KlocError(
            "give a workload, or a program after '--', not both", "kloc run [...] -- COMMAND..."
        )
    options.refuse(args, OF_WORKLOADS, "a program of your own has one size", "leave it out")
    if chosen.computed:
        raise KlocError(
            f"policy {chosen.name} is computed from a comparison", "kloc compare shows it"
        )
    with_kloc = args.with_kloc or args.program[0] == guest_commands.NAME
    job = Job(
        name=Path(args.program[0]).name,
        profile=host,
        scripts=_scripts(args.program, args.setup),
        settings=chosen.settings("", host),
        timing=chosen.timing,
        seed=args.seed,
        packages=(*args.packages, *(guest_commands.PACKAGES if with_kloc else ())),
        copies=options.copies(args),
        follow=args.follow,
        commands=with_kloc,
    )
    if args.dry_run:
        print(
            f"{shlex.join(args.program)} under {chosen.name}, seed {args.seed}, "
            f"machine {host.title()}"
        )
        return 0
    parts = prepare_parts(job.packages)
    with live.watching(f"running {job.name}", None, args.follow) as watch:

        def look(one: launcher.Machine) -> None:
            watch.bar.description = (
                f"running {job.name} ({one.stage}, {one.seconds:.2f} s of the machine's time)"
            )
            watch.show({job.name: one})

        raw = launcher.run(job, parts, look)
    measured = record.from_raw(job, chosen, Outcome(1, None), raw)
    return _show(args, parts, measured, raw.frames.get("measured", ""))


def _scripts(program: list[str], setup: Path | None) -> Mapping[str, str]:
    scripts = {"measured": shlex.join(program) + "\n"}
    if setup is not None:
        scripts["setup"] = options.existing(setup).read_text()
    return scripts


def _show(args: argparse.Namespace, parts: Parts, measured: record.Run, printed: str = "") -> int:
    base = profile.load(args.machine)
    made = document.assemble([parts], asdict(base), [measured])
    options.deliver(args, made, lambda: _print(measured, printed))
    return 0


def _print(measured: record.Run, printed: str) -> None:
    """Show a run's result, after what a program of one's own printed."""
    if printed:
        print(printed, end="" if printed.endswith("\n") else "\n")
    console = terminal.stdout()
    if measured["computed"]:
        console.print(*table.comparisons([measured], console.width), sep="\n")
    else:
        console.print(table.summary(measured))
    for line in table.remarks([measured]):
        terminal.stdout().print(line, markup=False)
