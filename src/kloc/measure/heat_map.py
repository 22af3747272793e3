# SPDX-License-Identifier: GPL-2.0
"""Records a heat map of a workload in the machine, from the end of its load to that of the region.

The guest needs no Python: scripts around those of the workload set DAMON and a trace instance up,
and print the trace after the region. What monitors runs on the machine's last core, which is a
spare one in all our machines, so that it takes no time from the workload. As all of a run is
repeated with its seed, so is the map.

For a map of physical memory, the guest reads the flags of page frames after the region, too, and
prints them; the host tells the kinds of pages from them.

The monitored processes are those of the workload that have 4 MiB or more in memory.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import shlex
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kloc.base import revision
from kloc.base.errors import KlocError
from kloc.base.ranges import joined
from kloc.heat import kinds, processes, tracing
from kloc.heat.events import MARK, Snapshots
from kloc.heat.records import Kinds, Mark, Memory, Process, Record, Snapshot
from kloc.machine.memory import TIERS, memory_ranges
from kloc.machine.profile import Profile
from kloc.measure.workload import Outcome, Size, Workload
from kloc.schemes import sysfs
from kloc.schemes.sysfs import KDAMONDS, Attributes, Physical, Processes

ATTRIBUTES = Attributes(1_000, 20_000, 100_000, 200, 600)
"""How DAMON monitors by default: a region of half a second has about 25 aggregation intervals.

With the paper's 10 regions at least, DAMON would need more intervals than a run has to find a hot
set of some MiB among 1472.
"""

BUFFER_KIB = 4096
"""The trace's buffer: 120 intervals with 600 regions. The latest events stay."""

MEASURED, MEASURED_NAME = "measured", "the measured region begins"
"""The mark at the beginning of the measured region, and its name in a record."""

BEGIN = "== heat map\n"
"""What the output of `check` has before the map."""

FOLDER = "/run/heat"
TRACE = f"/sys/kernel/tracing/instances/{tracing.NAME}"
STATE = f"{KDAMONDS}/0/state"

PAGE_BYTES = 4096
"""The size of the guest's pages."""

PAGES_MIN = 1024
"""The resident pages from which on a process is monitored: 4 MiB."""

STAND_IN = -1
"""The number of a target that is no process of the workload: it keeps a number of DAMON's."""

SET_UP = """\
mkdir -p {FOLDER}
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
mkdir {TRACE}
echo 4 >{TRACE}/buffer_size_kb
echo {BUFFER_KIB} >{TRACE}/per_cpu/cpu{cpu}/buffer_size_kb
echo {CLOCK} >{TRACE}/trace_clock
echo 1 >{TRACE}/{EVENT}/enable
{writes}
mark() {{ echo "kloc $*" >{TRACE}/trace_marker; }}
mark start
"""

START = """\
start() {{
    echo on >{STATE}
    taskset -pc {cpu} "$(cat {KDAMONDS}/0/pid)" >/dev/null
}}
"""

WATCH = """\
# The job's group has no spare core.
echo $$ >/sys/fs/cgroup/cgroup.procs
taskset -pc {cpu} $$ >/dev/null
mark() {{ echo "kloc $*" >{TRACE}/trace_marker; }}
{START}
targets= turn=0
while [ -e {FOLDER}/on ]; do
    found=
    while read -r pid; do
        read -r _ resident _ <{PROC}/$pid/statm || continue
        [ "$resident" -lt {PAGES_MIN} ] || found="$found $pid"
    done </sys/fs/cgroup/job/cgroup.procs
    fresh=
    for pid in $found; do
        case " $targets " in *" $pid "*) ;; *) fresh="$fresh $pid" ;; esac
    done
    # What DAMON knows stays at a target's number, so a process keeps its number. That of one
    # that has ended goes to a new process, or to this shell, which is not in the map.
    kept= count=0
    set -- $fresh
    for pid in $targets; do
        case " $found " in
        *" $pid "*) ;;
        *) pid=${{1:-$$}} && shift $(($# > 0)) ;;
        esac
        kept="$kept $pid" count=$((count + 1))
    done
    for pid; do
        [ $count -lt {MOST} ] || break
        kept="$kept $pid" count=$((count + 1))
    done
    if [ "$kept" != "$targets" ] && [ -n "$kept" ]; then
        echo $count >{TARGETS}/nr_targets
        number=0
        set -- $targets
        for pid in $kept; do
            echo $pid >{TARGETS}/$number/pid_target
            regions={TARGETS}/$number/regions
            if [ "${{1:-$pid}}" = $pid ]; then
                echo 0 >$regions/nr_regions
            else
                # It must not have the regions of the one before.
                echo 1 >$regions/nr_regions
                echo 0 >$regions/0/start
                echo 4096 >$regions/0/end
            fi
            number=$((number + 1))
            shift $(($# > 0))
        done
        # A process may end at any time; then the next turn tries again.
        if [ "$(cat {STATE})" = on ]; then echo commit >{STATE}; else start; fi && {{
            targets=$kept turn=0
            for pid in $kept; do
                [ $pid = $$ ] || mark process $pid $(cat {PROC}/$pid/comm)
            done
            mark targets $kept
        }}
    fi
    if [ $((turn % 4)) = 0 ]; then
        for pid in $targets; do sed "s/^/$pid /" {PROC}/$pid/maps; done >>{FOLDER}/maps
    fi
    turn=$((turn + 1))
    sleep 0.05
done 2>/dev/null
"""

READ_FRAMES = """\
[ ! -e {FLAGS} ] || cat {FLAGS} | gzip -n >{FOLDER}/frames
"""
"""Keeps the flags of page frames: after the region, and before the workload's processes end."""

SHOW = """\
rm -f {FOLDER}/on
echo off >{STATE} || true
echo '{BEGIN}'
{{
    sed -n 's/^overrun: /# overrun /p' {TRACE}/per_cpu/cpu{cpu}/stats
    cat {TRACE}/trace
    ! [ -e {FOLDER}/maps ] || sort -u {FOLDER}/maps | sed 's/^/maps /'
    ! [ -e {FOLDER}/frames ] || echo "frames $(base64 -w 0 {FOLDER}/frames)"
}} | gzip -n | base64
"""


CONSTANTS = {
    "FOLDER": FOLDER,
    "FLAGS": kinds.FLAGS,
    "TRACE": TRACE,
    "CLOCK": tracing.CLOCK,
    "EVENT": tracing.EVENT,
    "BUFFER_KIB": BUFFER_KIB,
    "KDAMONDS": KDAMONDS,
    "STATE": STATE,
    "TARGETS": f"{KDAMONDS}/0/contexts/0/targets",
    "PROC": processes.PROC,
    "MOST": processes.MOST,
    "PAGES_MIN": PAGES_MIN,
    "BEGIN": BEGIN.strip(),
}
"""What all scripts may have inserted."""


@dataclass
class Recorded:
    """What the guest printed of the map; None before the run."""

    text: str | None = None


def recorded(
    workload: Workload, profile: Profile, attributes: Attributes, physical: bool
) -> tuple[Workload, Recorded]:
    """Return the workload with a recording around it, and where the recording will be.

    `physical`: record all memory instead of the workload's processes.
    """
    found = Recorded()
    ranges = [(node.start, node.start + node.size) for node in memory_ranges(profile)]
    target = Physical(tuple(ranges)) if physical else Processes(())
    cpu = profile.cores + profile.spare_cores - 1
    set_up = _set_up(attributes, target, cpu)
    mark = f'echo "kloc {{}}" >{TRACE}/trace_marker\n'

    def setup(size: Size, seed: int) -> str:
        return _own_shell(workload.setup(size, seed)) + set_up

    def measured(size: Size, seed: int) -> str:
        script = _own_shell(workload.measured(size, seed))
        return f"{mark.format(MEASURED)}{script}{mark.format('end')}echo 0 >{TRACE}/tracing_on\n"

    def check(size: Size, seed: int) -> str:
        script = _own_shell(workload.check(size, seed)) if workload.check else ""
        return (_filled(READ_FRAMES) if physical else "") + script + _filled(SHOW, cpu=cpu)

    def outcome(printed: Mapping[str, str], size: Size) -> Outcome:
        own, _, found.text = printed["check"].partition(BEGIN)
        return workload.outcome({**printed, "check": own}, size)

    changed = replace(workload, setup=setup, measured=measured, check=check, outcome=outcome)
    if workload.warm_up is None and workload.repeatable is not False:
        # By default it is what `measured` does, which has the recording now.
        changed = replace(changed, warm_up=lambda size, seed: workload.slices(size, seed) or "")
    return changed, found


def record(
    text: str | None,
    title: str,
    kernel: str,
    profile: Profile,
    attributes: Attributes,
    physical: bool,
) -> Record:
    """Return the record in the output of the guest. Raises KlocError if it has none."""
    lines = _decoded(text, title).splitlines(keepends=True)
    reader = _Reader()
    for line in lines:
        reader.add(line)
    if not reader.snapshots:
        raise KlocError(
            f"DAMON saw nothing of {title}",
            "no process had 4 MiB in memory, or --aggregation is longer than the run",
        )
    memory = [
        Memory(node.start, node.start + node.size, number, TIERS[node.tier])
        for number, node in enumerate(memory_ranges(profile))
    ]
    start = reader.marks["start"]
    return Record(
        title=title,
        kernel=kernel,
        attributes=attributes,
        seconds=round(reader.marks["end"] - start, 6),
        snapshots=tuple(replace(one, time=round(one.time - start, 6)) for one in reader.snapshots),
        processes=() if physical else tuple(reader.processes()),
        memory=tuple(memory) if physical else (),
        kinds=reader.kinds(memory),
        marks=(Mark(round(reader.marks[MEASURED] - start, 6), MEASURED_NAME),),
        lost=reader.lost,
        kloc=revision.commit(),
    )


class _Reader:
    """Reads the lines of the guest's output: events, marks, mapped addresses, and page frames."""

    def __init__(self) -> None:
        self.marks: dict[str, float] = {}
        self.snapshots: list[Snapshot] = []
        self._events = Snapshots(0.0)
        self._names: dict[int, str] = {}
        self._maps: dict[int, list[str]] = {}
        self._frames = ""
        self._numbers: list[int | None] = [None]
        self._overrun = 0

    @property
    def lost(self) -> int:
        """Snapshots that are incomplete, and one if the buffer was too small."""
        return self._events.lost + bool(self._overrun)

    def add(self, line: str) -> None:
        if line.startswith("maps "):
            _, pid, rest = line.split(maxsplit=2)
            self._maps.setdefault(int(pid), []).append(rest)
        elif line.startswith("frames "):
            self._frames = line.removeprefix("frames ")
        elif line.startswith("# overrun"):
            self._overrun = int(line.split()[-1])
        elif found := MARK.search(line):
            self._mark(float(found[1]), found[2].removeprefix("kloc ").split())
        else:
            completed = self._events.add(line, self._numbers)
            self.snapshots += [one for one in completed if one.process != STAND_IN]

    def processes(self) -> list[Process]:
        """Return the monitored processes, in the order of their numbers."""
        return [
            Process(pid, name, tuple(joined(sorted(self._mapped(pid)))))
            for pid, name in self._names.items()
        ]

    def kinds(self, memory: Sequence[Memory]) -> tuple[Kinds, ...]:
        """Return the kinds of the pages of `memory`, none if the guest printed no flags."""
        flags = gzip.decompress(base64.b64decode(self._frames)) if self._frames else b""
        return kinds.counted(io.BytesIO(flags), memory, PAGE_BYTES)

    def _mapped(self, pid: int) -> list[tuple[int, int]]:
        return processes.parse_maps(self._maps.get(pid, []))

    def _mark(self, time: float, words: list[str]) -> None:
        if words[0] == "process":
            self._names[int(words[1])] = " ".join(words[2:])
        elif words[0] == "targets":
            known = list(self._names)
            pids = map(int, words[1:])
            self._numbers = [known.index(pid) if pid in known else STAND_IN for pid in pids]
        else:
            self.marks[words[0]] = time


def _set_up(attributes: Attributes, target: sysfs.Target, cpu: int) -> str:
    """Return the script that sets tracing and DAMON up, and starts DAMON or what watches for it."""
    *settings, _ = sysfs.writes([], attributes, target)
    writes = "\n".join(f"echo {text} >{path}" for path, text in settings)
    script = _filled(SET_UP, cpu=cpu, writes=writes)
    start = _filled(START, cpu=cpu)
    if isinstance(target, Physical):
        return f"{script}{start}start\n"
    watch = _filled(WATCH, START=start, cpu=cpu)
    return (
        f"{script}touch {FOLDER}/on\ncat >{FOLDER}/watch <<'end of watch'\n{watch}end of watch\n"
        f"sh {FOLDER}/watch </dev/null >/dev/null 2>&1 &\n"
    )


def _filled(script: str, **values: object) -> str:
    """Return a script with `values` and CONSTANTS inserted."""
    return script.format(**{**CONSTANTS, **values})


def _own_shell(script: str) -> str:
    """Return a script that runs another one in a shell of its own."""
    return f"sh -e -c {shlex.quote(script)}\n"


def _decoded(text: str | None, title: str) -> str:
    """Return what the guest printed. Raises KlocError if that is nothing, or broken."""
    reason: object = "it printed nothing"
    if text and text.strip():
        try:
            return gzip.decompress(base64.b64decode(text)).decode(errors="replace")
        except (OSError, EOFError, zlib.error, binascii.Error) as error:
            reason = error
    raise KlocError(f"the machine printed no heat map of {title}: {reason}", "run it again")
