# SPDX-License-Identifier: GPL-2.0
"""`kloc scheme`: checks, shows, applies and stops memory management schemes."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.sizes import rounded_size
from kloc.commands import output, scheme_arguments
from kloc.schemes import damon, nodes, notes, scheme, sysfs, text
from kloc.schemes.scheme import ACTIONS, Scheme
from kloc.schemes.sysfs import Attributes, Physical, Processes, Target

if TYPE_CHECKING:
    from rich.table import Table

DOERS = ("check", "show", "apply", "stop")

USAGE = (
    "[options] check SCHEME...",
    "[options] show [SCHEME]",
    "[options] apply SCHEME (--pid PID | --physical) [--for TIME]",
    "[options] stop",
)

DESCRIPTION = """\
Memory management schemes (DAOS) say what DAMON does with memory of a given size, access frequency
and age, such as reclaim it. docs/tuning.md describes their files. Everything but check and show
SCHEME needs root.

check: check files. show: show a scheme; without SCHEME, what DAMON runs now, with statistics.

apply: let DAMON run a scheme on a process, or on all memory, until the process ends or kloc scheme
stop. With --for, kloc waits, prints the statistics and restores DAMON's settings.

stop: stop the scheme that kloc applied, and restore the settings that DAMON had before.
"""

EXAMPLES = (
    ("kloc scheme show prcl", "reclaim what is not accessed for 5 s"),
    ("kloc scheme apply prcl --pid 1234", "on one process, until it ends"),
    ("kloc scheme show", "what DAMON runs now"),
)

POLL_SECONDS = 0.5
"""How often `apply --for` looks whether DAMON still runs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "action", metavar="ACTION", choices=DOERS, help=f"what to do: {', '.join(DOERS)}"
    )
    scheme_arguments.add_scheme(group, required=False)
    group = parser.add_argument_group("apply")
    scheme_arguments.add_pid(group, "apply the scheme to the memory of this process")
    group.add_argument(
        "--physical", action="store_true", help="apply the scheme to all memory of this system"
    )
    scheme_arguments.add_duration(group, "stop after this time, such as 90s or 5m")
    scheme_arguments.add_monitoring(parser)
    output.add_json(parser.add_argument_group("output"))


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    output.check(args)
    if args.action in ("check", "apply") and not args.schemes:
        raise UsageError(f"scheme {args.action} needs a scheme", f"kloc scheme {args.action} prcl")
    if args.action == "stop" and args.schemes:
        raise UsageError("scheme stop takes no scheme", "kloc scheme stop")
    if args.action != "check" and len(args.schemes) > 1:
        raise UsageError(
            f"scheme {args.action} takes one scheme", "only kloc scheme check takes several"
        )
    targets = args.pid is not None or args.physical or args.duration is not None
    if targets and args.action != "apply":
        raise UsageError(
            "--pid, --physical and --for belong to scheme apply", "kloc scheme apply SCHEME --pid N"
        )
    if args.action == "apply":
        return _apply(args)
    if args.action == "stop":
        return _stop()
    if args.action == "check":
        return _check(args)
    if not args.schemes:
        return _show_running(args)
    return _show(args, _load(args, args.schemes[0]))


def _check(args: argparse.Namespace) -> int:
    """Say which files have no mistake. Raises KlocError at the end if others have one."""
    correct: dict[str, list[Scheme]] = {}
    failures: list[KlocError] = []
    for name in args.schemes:
        try:
            correct[name] = _load(args, name)
        except KlocError as error:
            failures.append(error)
    if failures and len(args.schemes) == 1:
        raise failures[0]
    content = [{"file": name, **_document(one)} for name in correct for one in correct[name]]
    output.deliver(args, content, lambda: _print_correct(correct))
    for name, schemes in correct.items():
        for note in notes.of_schemes(schemes, scheme_arguments.attributes(args)):
            terminal.say(f"{name}: {note}")
    for failure in failures:
        terminal.say("\n".join([failure.message, *([failure.hint] if failure.hint else [])]))
    if failures:
        verb = "has" if len(failures) == 1 else "have"
        raise KlocError(f"{len(failures)} of {len(args.schemes)} files {verb} a mistake")
    return 0


def _print_correct(correct: Mapping[str, Sequence[Scheme]]) -> None:
    for name, schemes in correct.items():
        print(f"{name}: {len(schemes)} correct")


def _show(args: argparse.Namespace, schemes: Sequence[Scheme]) -> int:
    """Show the schemes of a file."""
    content = [_document(one) for one in schemes]
    output.deliver(args, content, lambda: terminal.lists().print(_scheme_table(schemes)))
    for note in notes.of_schemes(schemes, scheme_arguments.attributes(args)):
        terminal.say(note)
    return 0


def _load(args: argparse.Namespace, name: str) -> list[Scheme]:
    """Return the schemes of a file.

    Raises KlocError if it has a mistake, or if a scheme is impossible with the given monitoring on
    every target.
    """
    schemes = text.load(name)
    for one in schemes:
        target: Target = sysfs.Physical(())
        if one.action in scheme.OF_PROCESSES and one.action not in scheme.OF_PHYSICAL_MEMORY:
            target = Processes(())
        sysfs.scheme_writes([one], scheme_arguments.attributes(args), target)
    return schemes


def _show_running(args: argparse.Namespace) -> int:
    found = damon.kdamonds(update=True)
    content = [_kdamond_document(one) for one in found]
    output.deliver(args, content, lambda: _print_running(found))
    if any(one.running and damon.is_own(one) for one in found):
        _say_what_came_later()
    return 0


def _apply(args: argparse.Namespace) -> int:
    if (args.pid is None) == (not args.physical):
        raise UsageError(
            "name one target: --pid or --physical",
            f"kloc scheme apply {args.schemes[0]} --pid 1234",
        )
    (name,) = args.schemes
    schemes, attributes = text.load(name), scheme_arguments.attributes(args)
    damon.check()
    target: Target = damon.physical_memory() if args.physical else Processes((args.pid,))
    # Before DAMON is taken, so that an impossible scheme changes nothing.
    parts = nodes.parts(schemes, target)
    sysfs.setting_writes(parts, attributes)
    remarks = [*notes.of_schemes(schemes, attributes), *nodes.remarks(schemes, target)]
    remarks += _region_sizes(parts, attributes)
    with damon.taken() as taken:
        memory = target.ranges if isinstance(target, Physical) else ()
        taken.run(parts, attributes, memory)
        for remark in remarks:
            terminal.say(remark)
        if args.duration is None:
            taken.keep()
            terminal.say(f"{name} runs on {damon.describe(target)}; kloc scheme stop ends it")
        else:
            terminal.say(f"{name} runs on {damon.describe(target)}; Ctrl-C ends it")
            found = _wait(args.duration)
            content = [_kdamond_document(one) for one in found]
            output.deliver(args, content, lambda: _print_running(found))
            _say_what_came_later()
    return 0


def _region_sizes(parts: Sequence[sysfs.Part], attributes: Attributes) -> Iterator[str]:
    """Yield how large the regions of each kdamond are on average, if that is known."""
    for number, (target, _) in enumerate(parts):
        if sizes := notes.region_sizes(target, attributes):
            yield f"kdamond {number}: regions {sizes}; more --regions see smaller hot memory"


def _wait(duration: float) -> list[sysfs.Kdamond]:
    """Wait for a time in seconds, or until DAMON ends with its target; return what it did."""
    end = time.monotonic() + duration
    found = damon.kdamonds(update=True)
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, POLL_SECONDS))
        if not damon.runs():
            terminal.say("the target has ended, and DAMON with it")
            return found
        found = damon.kdamonds(update=left <= POLL_SECONDS)
    return found


def _say_what_came_later() -> None:
    """Name memory that the scheme that kloc applied is not for, because it came later."""
    for node, size in nodes.came_later():
        terminal.say(
            f"{rounded_size(size)} of node {node} came after the scheme was applied, so DAMON does "
            "not monitor them; stop the scheme and apply it again"
        )


def _stop() -> int:
    if damon.stop_kept():
        terminal.say("stopped; DAMON's settings are those from before kloc scheme apply")
    else:
        terminal.say("kloc applies no scheme")
    return 0


def _kdamond_document(one: sysfs.Kdamond) -> dict[str, Any]:
    """Return what --json writes of a kdamond; schemes are text, intervals microseconds."""
    return {
        "number": one.number,
        "pid": one.pid,
        "running": one.running,
        "own": damon.is_own(one),
        "operations": one.operations,
        "target": asdict(one.target),
        "attributes": asdict(one.attributes),
        "schemes": [_document(scheme) for scheme in one.schemes],
        "stats": [asdict(stats) for stats in one.stats],
        "unknown": list(one.unknown),
    }


def _document(one: Scheme) -> dict[str, str]:
    return {"text": text.format_scheme(one), "action": one.action, "does": ACTIONS[one.action]}


def _scheme_table(schemes: Sequence[Scheme]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("size", "frequency", "age", "action", "does"):
        table.add_column(title, overflow="fold")
    for one in schemes:
        words = text.format_scheme(one).split()
        ranges = [f"{words[at]} to {words[at + 1]}" for at in (0, 2, 4)]
        table.add_row(*ranges, " ".join(words[6:]), ACTIONS.get(one.action, ""))
    return table


def _print_running(found: Sequence[sysfs.Kdamond]) -> None:
    out = terminal.lists()
    if not found:
        out.print("DAMON runs nothing")
    for one in found:
        state = "runs" if one.running else "is off"
        by = " (started by kloc)" if damon.is_own(one) else ""
        out.print(f"kdamond {one.number} {state} on {damon.describe(one.target)}{by}", markup=False)
        out.print(_monitoring(one.attributes), markup=False)
        if sizes := notes.region_sizes(one.target, one.attributes):
            out.print(f"regions {sizes}", markup=False)
        if one.schemes:
            out.print(_scheme_table(one.schemes))
            out.print(_stats_table(one))
        for line in one.unknown:
            out.print(f"also: {line}", markup=False)


def _monitoring(attributes: sysfs.Attributes) -> str:
    return (
        f"sampling {attributes.sampling_us / 1000:g} ms, aggregation "
        f"{attributes.aggregation_us / 1000:g} ms, update {attributes.update_us / 1000:g} ms, "
        f"{attributes.min_regions} to {attributes.max_regions} regions"
    )


def _stats_table(one: sysfs.Kdamond) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    columns: Mapping[str, Any] = {
        "action": "left",
        "regions tried": "right",
        "MiB": "right",
        "applied": "right",
        "MiB applied": "right",
        "quota exceeded": "right",
    }
    for title, justify in columns.items():
        table.add_column(title, justify=justify)
    for ran, stats in zip(one.schemes, one.stats, strict=True):
        table.add_row(
            ran.action,
            f"{stats.tried:,}",
            f"{stats.tried_bytes / (1 << 20):,.1f}",
            f"{stats.applied:,}",
            f"{stats.applied_bytes / (1 << 20):,.1f}",
            f"{stats.quota_exceeded:,}",
        )
    return table
