# SPDX-License-Identifier: GPL-2.0
"""`kloc cold`: prints how much memory was not accessed for some time, and of which kind."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kloc.base import revision, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.sizes import exact_size
from kloc.base.words import plural
from kloc.commands import cold_bound, output, scheme_arguments, targets, values
from kloc.heat import cold, idle, processes, recorder
from kloc.heat.cold import THRESHOLDS, Row
from kloc.heat.idle import Idle
from kloc.schemes import cgroups, damon

if TYPE_CHECKING:
    from rich.table import Table

USAGE = ("[options] (--pid PID | --cgroup PATH | --all | --bound PERCENT)",)

DESCRIPTION = """\
Print how much memory was not accessed for 10 s, 30 s and 2 minutes, by kind and page size: of a
process and its children, of the processes of a cgroup, or of all processes and the page cache.

This works on any Linux with DAMON, also if all memory is of one tier, and needs root. Ctrl-C ends
the observation early. docs/tuning.md ("Find cold memory") says how exact the figures are.

With --bound, print which memory the policy thermostat has in slow memory, or would move there, and
how much of it is within a bound on slowdown. This needs a kernel of kloc with this policy selected.
"""

EXAMPLES = (
    ("kloc cold --pid 1234 --for 40s", "a process, for 40 s"),
    ("kloc cold --all --json cold.json", "all processes, and page cache"),
    ("kloc cold --bound 3", "what costs 3 % in slow memory"),
)

DURATION = 150.0
"""For how long memory is observed by default, in seconds: longer than the last threshold."""

MIB = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    scheme_arguments.add_pid(group, "observe this process and its children")
    group.add_argument(
        "--cgroup",
        metavar="PATH",
        help="observe the processes of this cgroup and of those below it: its path, such as "
        "/system.slice, or the name of its unit",
    )
    group.add_argument(
        "--all", action="store_true", help="observe all memory of processes, and the page cache"
    )
    group.add_argument(
        "--bound",
        type=values.percentage,
        metavar="PERCENT",
        help="print the memory whose visits the policy thermostat has counted, and how much of it "
        "costs this share of the processor time in slow memory",
    )
    scheme_arguments.add_duration(
        group,
        f"observe for this time, such as 40s or 5m (default: {_text(DURATION)}); with --bound, "
        f"measure processor time for it (default: {_text(cold_bound.DURATION)})",
    )
    scheme_arguments.add_monitoring(parser, idle.ATTRIBUTES)
    output.add_json(parser.add_argument_group("output"))


def run(args: argparse.Namespace) -> int:
    """Observe, and print what was not accessed."""
    chosen = (args.pid is not None, args.cgroup is not None, args.all, args.bound is not None)
    if sum(chosen) != 1:
        raise UsageError(
            "name one thing to observe",
            "kloc cold --pid PID, --cgroup PATH, --all, or --bound PERCENT",
        )
    output.check(args)
    if args.bound is not None:
        if given := scheme_arguments.monitoring_given(args, idle.ATTRIBUTES):
            raise UsageError(f"{', '.join(given)}: --bound does not use DAMON", "leave it out")
        return cold_bound.show(args)
    if args.duration is not None and args.duration < THRESHOLDS[0]:
        raise UsageError(
            f"--for {_text(args.duration)}: memory that was not accessed for {THRESHOLDS[0]} s "
            "takes longer to observe",
            f"give a longer time: the thresholds are {', '.join(map(_text, THRESHOLDS))}",
        )
    attributes = scheme_arguments.attributes(args)
    damon.check()
    cold.check()
    title, running = _target(args)
    with recorder.watching(Idle, attributes) as watched:
        _watch(args, watched, title, running)
        content = _document(args, watched, title, running)
    output.deliver(args, content, lambda: _print(content))
    for remark in _remarks(content):
        terminal.say(remark)
    return 0


def _target(args: argparse.Namespace) -> tuple[str, Callable[[], list[int]]]:
    """Return what is observed in words, and a function that returns its processes.

    All memory has kloc's own process, which is never gone. Raises KlocError if there is no process.
    """
    if args.all:
        return "all processes and the page cache", lambda: [os.getpid()]
    if args.pid is not None:
        name = targets.check_process(args.pid)
        return f"process {args.pid} ({name})", lambda: processes.tree(args.pid)
    folder = cgroups.folder(args.cgroup)
    if not _largest(cgroups.processes(folder)):
        raise KlocError(
            f"cgroup {args.cgroup} has no processes with memory",
            "systemd-cgls lists cgroups with their processes",
        )
    return f"cgroup {args.cgroup}", lambda: _largest(cgroups.processes(folder))


def _largest(pids: Sequence[int]) -> list[int]:
    """Return those of the processes that have memory, the largest first."""
    sizes = {pid: size for pid in pids if (size := processes.resident(pid))}
    return sorted(sizes, key=lambda pid: -sizes[pid])


def _watch(
    args: argparse.Namespace, watched: Idle, title: str, running: Callable[[], list[int]]
) -> None:
    """Observe memory until the time is over, all processes have ended, or Ctrl-C."""
    seconds = args.duration or DURATION
    if args.all:
        watched.start_physical()
    else:
        watched.start_processes(processes.in_order([], running()))
    terminal.say(f"observing {title} for {_text(seconds)}; Ctrl-C ends it early")
    # So that the intervals of the whole time are complete.
    more = 2 * watched.attributes.aggregation_us / 1e6 + recorder.POLL_SECONDS
    with suppress(KeyboardInterrupt):
        watched.watch(running, seconds + more)


def _document(
    args: argparse.Namespace, watched: Idle, title: str, running: Callable[[], list[int]]
) -> dict[str, Any]:
    """Return what --json writes. Raises KlocError if there is nothing to tell."""
    if watched.began is None:
        raise KlocError(
            f"DAMON saw nothing of {title}: no aggregation interval was complete",
            "observe it for longer, or lower --sampling and --aggregation",
        )
    if args.all:
        rows = cold.of_memory(watched, damon.physical_memory().ranges)
    else:
        rows = cold.of_processes(watched)
    if not rows:
        raise KlocError(
            f"{title} has ended, and its memory is free", "observe what runs for longer than --for"
        )
    return {
        "kloc": revision.commit(),
        "title": title,
        "kernel": os.uname().release,
        "seconds": round(watched.seconds, 3),
        "attributes": asdict(watched.attributes),
        "thresholds": list(THRESHOLDS),
        "memory": [_row_document(row) for row in rows],
        "all": _row_document(cold.total(rows)),
        "not_observed": max(0, len(running()) - processes.MOST),
        "lost": watched.lost,
    }


def _row_document(row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind or "all",
        "page_bytes": None if not row.kind else cold.HUGE_BYTES if row.huge else cold.page_bytes(),
        "bytes": row.size,
        "idle_bytes": dict(zip(map(str, THRESHOLDS), row.idle, strict=True)),
    }


def _remarks(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to know about the figures."""
    seconds = content["seconds"]
    if missed := [_text(one) for one in THRESHOLDS if one > seconds]:
        yield (
            f"observed for {seconds:.0f} s: too short to tell what was not accessed for "
            f"{' and '.join(missed)}; --for {_text(DURATION)} is long enough for all"
        )
    if content["not_observed"]:
        yield (
            f"processes that were not observed: {content['not_observed']}; kloc observes "
            f"{processes.MOST} at once, of a cgroup the largest"
        )
    if content["lost"]:
        yield (
            f"{plural(content['lost'], 'interval')} of DAMON were lost, and accesses in them: "
            "a longer --aggregation or fewer --regions help"
        )


def _print(content: Mapping[str, Any]) -> None:
    terminal.print_line(
        f"{content['title']}, observed for {content['seconds']:.0f} s, Linux {content['kernel']}"
    )
    terminal.stdout().print(_table(content))


def _table(content: Mapping[str, Any]) -> Table:
    """Return the table: a row for each kind and page size, and one for all."""
    from rich import box
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.add_column("memory")
    drawn.add_column("page\nsize", justify="right")
    drawn.add_column("\nMiB", justify="right")
    for number, threshold in enumerate(content["thresholds"]):
        above = "" if number else "not accessed for"
        drawn.add_column(f"{above}\n{_text(threshold)}", justify="right")
    whole = [*content["memory"], *([content["all"]] if len(content["memory"]) > 1 else [])]
    for row in whole:
        size = exact_size(row["page_bytes"]) if row["page_bytes"] else ""
        idle = [_cell(part, row["bytes"]) for part in row["idle_bytes"].values()]
        drawn.add_row(row["kind"], size, f"{row['bytes'] / MIB:,.1f}", *idle)
    return drawn


def _cell(part: int | None, whole: int) -> str:
    """Return MiB and the share of a row, or that this is not known."""
    if part is None:
        return "not observed"
    return f"{part / MIB:,.1f}  {100 * part / whole:3.0f} %"


def _text(seconds: float) -> str:
    """Return a time as --for takes it."""
    minutes, rest = divmod(seconds, 60)
    return (f"{minutes:g}m" if minutes else "") + (f"{rest:g}s" if rest or not minutes else "")
