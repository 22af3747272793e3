# SPDX-License-Identifier: GPL-2.0
"""`kloc heatmap`: records and draws which memory is accessed when, and how often."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kloc.base import environment, paths, plots, terminal
from kloc.base.errors import KlocError, UsageError, cannot_execute
from kloc.commands import completers, output, scheme_arguments, targets, values
from kloc.commands.exec import callers_environment
from kloc.heat import kinds, processes, recorder, records
from kloc.heat.records import Record
from kloc.schemes import damon, units
from kloc.schemes.sysfs import Attributes

USAGE = (
    "[options] (--pid PID | --physical) [--for TIME]",
    "[options] -- COMMAND [ARGUMENT...]",
    "[options] WORKLOAD [--physical]",
    "[options] FILE.json",
)

DESCRIPTION = """\
Record what DAMON sees of the memory of a process, of a command with all its children, or with
--physical of all memory, and draw it: time to the right, addresses upward, access frequency as
color. This works on any Linux with DAMON, and needs root. Ctrl-C ends the recording.

A WORKLOAD is recorded in the two-tier machine; the same seed gives the same map. A FILE that --json
wrote is drawn again. docs/heatmap.md explains the maps.
"""

EXAMPLES = (
    ("kloc heatmap --pid 1234 --for 30s", "a running process"),
    ("kloc heatmap --plot heat.png -- ./bench", "a command"),
    ("kloc heatmap redis --physical", "a workload, with its tiers"),
)

MONITORING = ("sampling", "aggregation", "update", "regions")
MACHINE = ("policy", "machine", "seed", "quick")
"""The options of monitoring, and of a workload."""

END_SECONDS = 5.0
"""How long a command that is ended with the recording may take to end."""

TITLE_MAX = 50
"""Characters of a command in the title of its map."""

UPDATE_US = 200_000
"""How often new memory and new processes are looked for by default, in us.

Schemes have 1 s; a command may have started and ended processes by then.
"""

SIGNALED = 128
"""Added to the signal that ended a command, for kloc's own status, as shells do it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    action = group.add_argument(
        "shown",
        nargs="?",
        metavar="WORKLOAD|FILE.json",
        help="a workload to record in the machine (kloc workloads lists them), or a file that "
        "--json wrote, to show it again",
    )
    completers.complete_names(action, lambda: _names("workload"), ".json")
    scheme_arguments.add_pid(group, "record this process")
    group.add_argument(
        "--physical",
        action="store_true",
        help="record all memory, by its tiers and kinds of pages",
    )
    scheme_arguments.add_duration(
        group,
        "record for this time, such as 30s or 5m (default: until the process ends, or Ctrl-C)",
    )
    _add_machine(parser)
    scheme_arguments.add_monitoring(parser, Attributes(update_us=UPDATE_US))
    # A workload's defaults are others.
    parser.set_defaults(**dict.fromkeys(MONITORING))
    group = parser.add_argument_group("output")
    output.add_json(group)
    output.add_plot(group, "the map")
    output.add_dry_run(group)
    group.add_argument(
        "--parts",
        type=values.whole_number(1),
        metavar="N",
        default=3,
        help="show the N parts of processes with the most accesses (default: %(default)s)",
    )


def _add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options of a workload, as kloc run has them; no module of the machine is imported."""
    group = parser.add_argument_group("a workload in the machine")
    action = group.add_argument(
        "--policy", metavar="POLICY", help="the policy (default: kloc; kloc policies lists them)"
    )
    completers.complete_names(action, lambda: _names("policy"))
    action = group.add_argument(
        "--machine", metavar="MACHINE", help="the machine (default: tiered; kloc machines)"
    )
    completers.complete_names(action, lambda: _names("profile"), ".toml")
    group.add_argument(
        "--seed",
        type=values.whole_number(0, values.SEED_MAX),
        metavar="N",
        help="the random seed (default: 1)",
    )
    group.add_argument("--quick", action="store_true", help="a quarter of the load and the region")


def _names(what: str) -> list[str]:
    """Return the names of workloads, policies or machines ("profile")."""
    if not environment.has("measure"):
        return []
    package = "machine" if what == "profile" else "measure"
    return list(importlib.import_module(f"kloc.{package}.{what}").names())


def run(args: argparse.Namespace) -> int:
    """Record and draw, or draw a file."""
    is_file = args.shown is not None and args.shown.endswith(".json")
    _check(args, is_file)
    if is_file:
        _deliver(args, records.read(Path(args.shown)))
        return 0
    if args.shown is not None:
        paths.require_laboratory("kloc heatmap WORKLOAD")
        environment.require("measure", "kloc heatmap WORKLOAD")
        machine = importlib.import_module("kloc.commands.heatmap_machine")
        attributes = _attributes(args, machine.ATTRIBUTES)
        if args.dry_run:
            return int(machine.show(args, attributes))
        _deliver(args, machine.record(args, attributes))
        return 0
    if args.dry_run:
        return _list(args)
    with recorder.watching(
        recorder.Recorder, _attributes(args, Attributes(update_us=UPDATE_US))
    ) as recording:
        if args.program:
            status = _record_command(args, recording)
            record = recording.record(_short(shlex.join(args.program)))
        else:
            status = 0
            title = _record_system(args, recording)
            record = recording.record(title)
    _deliver(args, record)
    return status


def _attributes(args: argparse.Namespace, defaults: Attributes) -> Attributes:
    """Return how to monitor: what the options say, else the defaults."""
    found = {
        "sampling": defaults.sampling_us,
        "aggregation": defaults.aggregation_us,
        "update": defaults.update_us,
        "regions": (defaults.min_regions, defaults.max_regions),
    }
    given = {name: getattr(args, name) for name in MONITORING if getattr(args, name) is not None}
    return scheme_arguments.attributes(argparse.Namespace(**{**found, **given}))


def _check(args: argparse.Namespace, is_file: bool) -> None:
    """Raise an error for options that do not fit together, or if drawing lacks its packages."""
    how = "kloc heatmap --pid N, --physical, WORKLOAD, FILE.json, or -- COMMAND..."
    if args.program is not None and not args.program:
        raise UsageError("no command after '--'", "kloc heatmap [options] -- COMMAND...")
    targets = [args.pid is not None, bool(args.program), args.shown is not None]
    if sum(targets) > 1 or not (any(targets) or args.physical):
        raise UsageError("name one thing to show", how)
    if args.physical and (args.pid is not None or is_file):
        raise UsageError("--physical is all memory, not that of a process or a file", how)
    if args.shown is not None and args.duration is not None:
        raise UsageError(
            "--for is for a process or a command",
            "a workload is recorded up to its end, and a file is only shown: leave it out",
        )
    options = {name: getattr(args, name) for name in MACHINE}
    given = [name for name, value in options.items() if value is not None and value is not False]
    if given and (args.shown is None or is_file):
        raise UsageError(
            f"{', '.join(f'--{name}' for name in given)}: this is for a workload in the machine",
            "kloc heatmap WORKLOAD [options]",
        )
    if is_file and args.dry_run:
        raise UsageError("a file is only shown, nothing is run", "leave --dry-run out")
    if is_file and any(getattr(args, name) is not None for name in MONITORING):
        raise UsageError("a file is only shown, not recorded", "leave the monitoring options out")
    output.check(args)
    if args.plot is not None:
        plots.check(args.plot)
    if args.plot is not None or args.shown is not None or not output.is_stdout(args):
        _require_packages(args)


def _list(args: argparse.Namespace) -> int:
    """Print what would be recorded. Raises KlocError for what the recording would refuse."""
    attributes = _attributes(args, Attributes(update_us=UPDATE_US))
    damon.check_free()
    target = "all memory"
    if args.program:
        targets.check_program(args.program)
        target = f"{'all memory during ' * args.physical}{shlex.join(args.program)}"
    elif args.pid is not None:
        target = f"process {args.pid} ({targets.check_process(args.pid)})"
    until = "until it ends, or Ctrl-C" if args.program or args.pid else "until Ctrl-C"
    until = f"for {args.duration:g} s" if args.duration else until
    each = ", ".join(map(units.format_time, (attributes.sampling_us, attributes.aggregation_us)))
    print(f"{target}, {until}; sampling and aggregation: {each}")
    return 0


def _require_packages(args: argparse.Namespace) -> None:
    """Install what drawing needs. Raises KlocError where only the user can."""
    modules = [
        "numpy",
        *(["msgspec"] if args.shown else []),
        *(["matplotlib"] if args.plot else []),
    ]
    if all(importlib.util.find_spec(name) for name in modules):
        return
    if not environment.is_installed():
        raise KlocError(
            f"drawing a heat map needs the Python packages {', '.join(modules)}",
            "in the machine, --json - prints the record; kloc heatmap FILE draws it on the host",
        )
    if not environment.is_own():
        lacking = [name for name in modules if importlib.util.find_spec(name) is None]
        raise environment.lacks(lacking, "drawing a heat map")
    environment.require("measure", "kloc heatmap")


def _record_system(args: argparse.Namespace, recording: recorder.Recorder) -> str:
    """Record a process, or all memory; return what that is."""
    if args.physical:
        title = "physical memory"
        recording.start_physical()
    else:
        title = f"process {args.pid} ({processes.name(args.pid)})"
        recording.start_processes([args.pid])
    until = f"for {args.duration:g} s" if args.duration else "until Ctrl-C"
    terminal.say(f"recording {title} {until}")
    watched = os.getpid() if args.physical else args.pid
    with suppress(KeyboardInterrupt):
        recording.watch(lambda: processes.tree(watched), args.duration)
    if not processes.is_running(watched):
        terminal.say(f"process {watched} has ended")
    return title


def _record_command(args: argparse.Namespace, recording: recorder.Recorder) -> int:
    """Run the command and record it; return its status, 0 if the recording ended first."""
    if args.physical:
        recording.start_physical()
    with _started(args) as process:
        if not args.physical:
            recording.start_processes([process.pid])
        with suppress(KeyboardInterrupt):
            recording.watch(lambda: processes.tree(process.pid), args.duration)
        # DAMON ends with the command, and may do so a moment earlier.
        with suppress(subprocess.TimeoutExpired):
            process.wait(recorder.POLL_SECONDS)
        ended = process.returncode
    if ended is None:
        terminal.say("the recording ended before the command, which was stopped")
        return 0
    return ended if ended >= 0 else SIGNALED - ended


def _short(command: str) -> str:
    """Return a command as a title: in one line, and not too long."""
    line = " ".join(command.split())
    return line if len(line) <= TITLE_MAX else f"{line[: TITLE_MAX - 1]}…"


@contextmanager
def _started(args: argparse.Namespace) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command for the block, and end all its processes with the block."""
    try:
        # Its own process group: a Ctrl-C goes to kloc, which ends the group.
        process = subprocess.Popen(
            args.program,
            env=callers_environment(os.environ),
            stdout=sys.stderr if output.is_stdout(args) else None,
            start_new_session=True,
        )
    except OSError as error:
        raise cannot_execute(args.program[0], error) from error
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End all processes of the group: ask them to, then kill those that are left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _deliver(args: argparse.Namespace, record: Record) -> None:
    """Write the files and print the map."""
    if args.physical and not any(one.tier for one in record.memory):
        terminal.say("the kernel knows no memory tiers: only nodes are named")
    if args.physical and not record.kinds:
        terminal.say(
            f"kinds of pages are not known: {kinds.FLAGS} cannot be read, or the kernel was built "
            "without CONFIG_PROC_PAGE_MONITOR"
        )
    try:
        output.deliver(args, records.document(record), lambda: _print(args, record), indent=None)
    finally:
        if args.plot is not None:
            importlib.import_module("kloc.heat.plot").plot(args.plot, record, args.parts)


def _print(args: argparse.Namespace, record: Record) -> None:
    console = terminal.stdout()
    for line in importlib.import_module("kloc.heat.picture").lines(record, args.parts, console):
        console.print(line, no_wrap=True, crop=True)
