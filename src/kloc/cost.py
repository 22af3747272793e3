# SPDX-License-Identifier: GPL-2.0
"""What our patches cost, off and on: instructions and cache lines of system calls.

machine/bench/calls.c makes the calls, on each kernel, under QEMU's -icount; the difference
between two kernels of the same configuration and compiler is what the one has and the other has
not. Nothing is left to chance; but where objects lie and when the timer ticks, which differs from
kernel to kernel, is worth up to 0.3 % of a round of fork, exit and wait. So each kernel is measured
in several layouts of memory, and the median is what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median, median_low
from typing import TYPE_CHECKING, Any

from kloc import bare, cache, kernel, machine, plugin, programs, root, ui
from kloc.errors import KlocError, unknown
from kloc.paths import PROJECT

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = 1
CALLS = PROJECT / "machine" / "bench" / "calls.c"
DISK_BYTES = 16 << 20

KNOWN_INSTRUCTIONS, KNOWN_LINES = 402, 100
"""What "known" takes more than "nothing": the two calls of calls.c's first group."""

LAYOUTS = 5
"""In how many layouts of memory a kernel is measured; calls.c has what a layout is."""

BOUND = 0.002
"""What our patches may cost while they are off: a fraction of the instructions."""

ON_BOUND = 0.01
"""What contexts may cost that are on, while there is nothing for them to do."""

MEMORY_BOUND = 0.01
"""What contexts may take: a fraction of the pages that they hold, here some 16 KiB each."""

PAGE = 4096

CONTEXTS = "/sys/kernel/mm/kloc"


@dataclass(frozen=True)
class Column:
    """A kernel that is measured: a variant of kloc.kernel, and what is written to which file.

    `settings` are written before the first call, as a policy's are. `bound` is the fraction of
    the first group's instructions that it may take more than the reference, None for any.
    """

    name: str
    summary: str
    variant: str
    settings: Mapping[str, str] = field(default_factory=dict)
    bound: float | None = BOUND


REFERENCE = Column("unpatched", "Debian's source, with our configuration", kernel.UNPATCHED)

COLUMNS = (
    REFERENCE,
    Column("base", "our patches, CONFIG_KLOC and CONFIG_KLOC_MACHINE off", "base"),
    Column("kloc", "CONFIG_KLOC on, contexts switched off", "kloc"),
    Column("machine", "the same, CONFIG_KLOC_MACHINE on, and no timing model", "machine"),
    Column(
        "chosen",
        "contexts switched on for chosen processes; another is one, and this is none",
        "kloc",
        {f"{CONTEXTS}/scope": "chosen", f"{CONTEXTS}/enabled": "1", "process": "chosen"},
        ON_BOUND,
    ),
    Column(
        "on",
        "contexts switched on, all files have one, and there is room for all",
        "kloc",
        {f"{CONTEXTS}/enabled": "1"},
        ON_BOUND,
    ),
    Column(
        "short",
        "the same, but room gets short: uses of pages are noted, too; ten scans where one is usual",
        "kloc",
        {
            f"{CONTEXTS}/reserve_pages": "10000",
            f"{CONTEXTS}/scan_us": "100000",
            f"{CONTEXTS}/enabled": "1",
        },
        None,
    ),
)
"""What can be measured; a kernel of another configuration, or in another state, is one more."""


@dataclass(frozen=True)
class Call:
    """What one call takes, the median of many: instructions, and data cache lines touched."""

    name: str
    instructions: int
    lines: int


@dataclass(frozen=True)
class Group:
    """Calls made in one loop; `instructions` and `lines` are the mean of a round, rare work too.

    Instructions are the whole loop's, with what came between: interrupts, and the measuring.
    """

    name: str
    rounds: int
    instructions: float
    lines: float
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Memory:
    """What contexts take, at the end: bytes, but for their number and the pages that they hold.

    `counts` is what is kept for each page, of all `memory`.
    """

    contexts: int
    knodes: int
    pages: int
    counts: int
    memory: int


@dataclass(frozen=True)
class Measured:
    """A kernel, and what its calls take; and its contexts, if there are any."""

    column: Column
    built: kernel.Kernel
    groups: tuple[Group, ...]
    memory: Memory | None = None


Run = tuple[tuple[Group, ...], Memory | None]
"""What one run of calls.c says: the groups, and the contexts at its end."""


def choose(names: Sequence[str]) -> list[Column]:
    """Return the columns of these names, of all if there are none; the reference is first.

    A name that is none of COLUMNS: KlocError.
    """
    known = {column.name: column for column in COLUMNS}
    for name in names:
        if name not in known:
            raise unknown("kernel", name, known)
    return [each for each in COLUMNS if each is REFERENCE or not names or each.name in names]


def measure(columns: Iterable[Column], layouts: int = LAYOUTS) -> list[Measured]:
    """Build the kernels and measure one after the other; KlocError if one fails at anything."""
    built = [(column, kernel.build(column.variant)) for column in columns]
    return [_measure(column, made, layouts) for column, made in built]


def _measure(column: Column, built: kernel.Kernel, layouts: int) -> Measured:
    runs = [_run(column, built, layout) for layout in range(layouts)]
    # What contexts take is no matter of chance.
    return Measured(column, built, middle([groups for groups, _ in runs]), runs[0][1])


def _run(column: Column, built: kernel.Kernel, layout: int) -> Run:
    printed: list[str] = []
    files = {
        "init": programs.build(CALLS),
        "disk": machine.data_image(root.tool_root(), DISK_BYTES),
    }
    counter = plugin.counter()
    with (
        cache.scratch(f"cost-{column.name}") as folder,
        ui.progress(f"measuring the {column.name} kernel, layout {layout + 1}"),
    ):
        files["settings"], files["layout"] = folder / "written", folder / "number"
        files["settings"].write_text(
            "".join(f"{path} {value}\n" for path, value in column.settings.items())
        )
        files["layout"].write_text(f"{layout}\n")
        touched = folder / "lines"
        argument = [str(counter), f"output={touched}"]
        bare.run(built, files, argument, printed.append, folder)
        try:
            return parse(printed, touched.read_text())
        except KlocError as error:
            hint = f"its console is in {folder / 'console'}"
            raise KlocError(f"the {column.name} kernel: {error.message}", hint) from error


def middle(runs: Sequence[tuple[Group, ...]]) -> tuple[Group, ...]:
    """Return what is in the middle of several runs of the same groups, figure by figure."""
    return tuple(
        Group(
            same[0].name,
            same[0].rounds,
            median(group.instructions for group in same),
            median(group.lines for group in same),
            tuple(
                _middle_call(calls) for calls in zip(*(group.calls for group in same), strict=True)
            ),
        )
        for same in zip(*runs, strict=True)
    )


def _middle_call(same: Sequence[Call]) -> Call:
    return Call(
        same[0].name,
        median_low(call.instructions for call in same),
        median_low(call.lines for call in same),
    )


def parse(printed: Iterable[str], touched: str) -> Run:
    """Return what calls.c printed (its comment has the form), but for the check's group.

    `touched` is what count.c wrote. A failure of the program's, output that is not whole, and
    figures of the check that are not what is known: KlocError.
    """
    lines: dict[int, list[int]] = {}
    for entry in touched.splitlines():
        call, count = entry.split()
        lines.setdefault(int(call), []).append(int(count))
    groups: list[Group] = []
    memory: Memory | None = None
    ended = ""
    for line in printed:
        word, _, rest = line.partition(" ")
        if word == "group":
            groups.append(Group(rest, 0, 0, 0, ()))
        elif word == "rounds":
            rounds, instructions = map(int, rest.split())
            groups[-1] = Group(groups[-1].name, rounds, instructions / rounds, 0, ())
        elif word == "call":
            groups[-1] = _with_call(groups[-1], rest, lines)
        elif word == "contexts":
            memory = Memory(*map(int, rest.split()))
        elif word in ("done", "failed"):
            ended = line
    if ended != "done":
        raise KlocError(ended or "it ended before all calls were made")
    check, *measured = groups
    overhead = _overhead(check)
    return tuple(_without(overhead, group) for group in measured), memory


def _with_call(group: Group, line: str, lines: Mapping[int, list[int]]) -> Group:
    """Return the group with the call of this line: NUMBER NAME: INSTRUCTIONS:TIMES ..."""
    title, _, counted = line.partition(": ")
    number, _, name = title.partition(" ")
    samples: list[int] = []
    for pair in counted.split():
        value, times = map(int, pair.split(":"))
        samples += [value] * times
    touched = lines.get(int(number), [])
    if len(samples) != group.rounds or len(touched) != group.rounds:
        raise KlocError(
            f"{name}: {group.rounds} calls, instructions of {len(samples)}, "
            f"cache lines of {len(touched)}"
        )
    call = Call(name, median_low(samples), median_low(touched))
    per_round = group.lines + sum(touched) / group.rounds
    return Group(group.name, group.rounds, group.instructions, per_round, (*group.calls, call))


def _overhead(check: Group) -> int:
    """Return the instructions of measuring nothing, if what is known comes out."""
    nothing, known = check.calls
    found = (known.instructions - nothing.instructions, known.lines)
    if found != (KNOWN_INSTRUCTIONS, KNOWN_LINES) or nothing.lines:
        raise KlocError(
            f"a loop of {KNOWN_INSTRUCTIONS} instructions and {KNOWN_LINES} cache lines "
            f"was counted as {found[0]} and {found[1]}"
        )
    return nothing.instructions


def _without(overhead: int, group: Group) -> Group:
    calls = tuple(Call(one.name, one.instructions - overhead, one.lines) for one in group.calls)
    return Group(group.name, group.rounds, group.instructions, group.lines, calls)


def change(of: Measured, reference: Measured, names: Sequence[str] = ()) -> float:
    """Return by what fraction a round of these groups (of all, if none) takes more instructions."""
    ours, theirs = (
        sum(group.instructions for group in each.groups if not names or group.name in names)
        for each in (of, reference)
    )
    return ours / theirs - 1


def document(all_measured: Sequence[Measured]) -> dict[str, Any]:
    """Return a result file's content; docs/results.md describes it."""
    return {
        "schema": SCHEMA,
        "versions": root.tool_root().versions(),
        "kernels": [
            {
                "name": one.column.name,
                "summary": one.column.summary,
                "variant": one.column.variant,
                "settings": dict(one.column.settings),
                "release": one.built.release,
                "series": one.built.series,
                "groups": [_group(group) for group in one.groups],
                "memory": asdict(one.memory) if one.memory else None,
            }
            for one in all_measured
        ],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "rounds": group.rounds,
        "instructions": group.instructions,
        "lines": group.lines,
        "calls": {
            call.name: {"instructions": call.instructions, "lines": call.lines}
            for call in group.calls
        },
    }


def tables(all_measured: Sequence[Measured]) -> Iterable[Table]:
    """Return tables of the reference and two others each: 80 columns have no room for more."""
    reference, *others = all_measured
    for first in range(0, max(len(others), 1), 2):
        yield table([reference, *others[first : first + 2]])


def table(all_measured: Sequence[Measured]) -> Table:
    """Return what the calls take on the reference, which is first, and how the others differ."""
    from rich.box import SIMPLE
    from rich.table import Table

    reference, *others = all_measured
    title = "A call's instructions and data cache lines"
    made = Table(
        title=title, title_justify="left", box=SIMPLE, padding=(0, 0, 0, 1), show_edge=False
    )
    made.add_column("")
    made.add_column(f"{reference.column.name}\ninstr.", justify="right")
    made.add_column("\nlines", justify="right")
    for one in others:
        made.add_column(f"{one.column.name}\ninstr.", justify="right")
        made.add_column("\n%", justify="right")
        made.add_column("\nlines", justify="right")
    for number, group in enumerate(reference.groups):
        same = [one.groups[number] for one in others]
        for index, call in enumerate(group.calls):
            cells = [cell for each in same for cell in _differences(each.calls[index], call)]
            made.add_row(call.name, f"{call.instructions:,}", f"{call.lines:,}", *cells)
        cells = [cell for each in same for cell in _differences(each, group)]
        made.add_row(
            f"{group.name}: all",
            f"{group.instructions:,.0f}",
            f"{group.lines:,.0f}",
            *cells,
            style="bold",
            end_section=True,
        )
    return made


def _differences(ours: Call | Group, theirs: Call | Group) -> list[str]:
    instructions = ours.instructions - theirs.instructions
    return [
        _signed(instructions, ",.0f"),
        _signed(100 * instructions / theirs.instructions, ".2f"),
        _signed(ours.lines - theirs.lines, ",.0f"),
    ]


def _signed(value: float, form: str) -> str:
    """Return the number with its sign; 0 where nothing else would be left of it."""
    text = format(value, "+" + form)
    return text if any(digit in text for digit in "123456789") else "0"


def _percent(fraction: float) -> str:
    return f"{_signed(100 * fraction, '.2f')} %"


def remarks(all_measured: Sequence[Measured]) -> list[str]:
    """Return, for each kernel but the reference, what it is and what it costs in all."""
    reference, *others = all_measured
    first = reference.groups[0].name
    return [
        f"{one.column.name}: {one.column.summary}. "
        f"{first}: {_percent(change(one, reference, [first]))} of instructions "
        f"({_bound(one.column)}), all groups: {_percent(change(one, reference))}"
        f"{_in_memory(one.memory) if one.memory else ''}"
        for one in others
    ]


def _bound(column: Column) -> str:
    return "no bound" if column.bound is None else f"bound: {100 * column.bound:g} %"


def _in_memory(of: Memory) -> str:
    held = of.pages * PAGE
    return (
        f". Memory: {of.contexts:,} contexts take {of.knodes:,} bytes, "
        f"{100 * of.knodes / held:.2f} % of the {held >> 10:,} KiB of pages that they hold "
        f"(bound: {100 * MEMORY_BOUND:g} %); the counts of pages {100 * of.counts / of.memory:.2f} "
        "% of all memory"
    )
