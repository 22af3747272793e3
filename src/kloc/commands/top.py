# SPDX-License-Identifier: GPL-2.0
"""`kloc top`: the contexts that there are, the largest first, again and again."""

from __future__ import annotations

import argparse
import heapq
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.server import contexts
from kloc.server.contexts import Context

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NAME = "top"
HELP = "show the contexts of the kernel that runs here: paths, pages in each tier, age, last CPU"

Key = Callable[[Context], Any]
KEYS: dict[str, Key] = {
    "fast": lambda each: each.fast,
    "slow": lambda each: each.slow,
    "size": lambda each: each.fast + each.slow,
    "age": lambda each: each.age,
    "heat": lambda each: each.heat,
    "openers": lambda each: each.openers,
    "id": lambda each: each.id,
}
"""What they can be sorted by, the most first."""

LINES = 20
ABOVE_AND_BELOW = 5
"""Lines of the terminal that are no context's."""

WIDE = 10_000
"""Characters, more than a path has."""


@dataclass(frozen=True)
class View:
    """What is shown at one moment: contexts with their places, and what all together have."""

    rows: list[tuple[str, Context]]
    total: Counter[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "--sort", choices=list(KEYS), default="fast", help="by what (default: %(default)s)"
    )
    parser.add_argument(
        "--lines",
        type=_whole,
        metavar="N",
        help=f"so many contexts, 0 for all (default: what the terminal has room for, else {LINES})",
    )
    parser.add_argument(
        "--interval",
        type=_seconds,
        default=2.0,
        metavar="S",
        help="look again after so many seconds, until Ctrl-C (default: 2)",
    )
    parser.add_argument("--once", action="store_true", help="look once")
    parser.add_argument("--json", action="store_true", help="look once, and print that as JSON")


def run(args: argparse.Namespace) -> int:
    """Show them; return the exit status."""
    contexts.check_kernel()
    if not contexts.enabled():
        raise KlocError("contexts are switched off: there are none", contexts.HOW_TO_ENABLE)
    if args.json:
        print(json.dumps(_document(view(args)), indent=1))
    elif args.once:
        _out().print(picture(view(args)))
    else:
        _follow(args)
    return 0


def _follow(args: argparse.Namespace) -> None:
    """Show them until Ctrl-C: in place on a terminal, elsewhere one view below the other.

    A terminal that cannot do more, as the machine's is, counts as elsewhere.
    """
    out = _out()
    try:
        if not out.is_interactive:
            while True:
                out.print(picture(view(args)))
                out.file.flush()
                time.sleep(args.interval)
        from rich.live import Live

        with Live(console=out, screen=True, auto_refresh=False) as live:
            while True:
                live.update(picture(view(args)), refresh=True)
                time.sleep(args.interval)
    except KeyboardInterrupt:
        return


def view(args: argparse.Namespace) -> View:
    """Look at all contexts, and keep those that are shown."""
    total: Counter[str] = Counter(number=0, active=0, fast=0, slow=0)

    def counted(each: Context) -> Context:
        total.update(number=1, active=int(each.active), fast=each.fast, slow=each.slow)
        return each

    every = (counted(each) for each in contexts.read_contexts())
    key = KEYS[args.sort]

    def rank(each: Context) -> tuple[Any, int]:
        return key(each), -each.id

    lines = _lines(args)
    first = heapq.nlargest(lines, every, rank) if lines else sorted(every, key=rank, reverse=True)
    mounted = contexts.read_mounts()
    return View([(contexts.visible_path(each, mounted), each) for each in first], total)


def picture(shown: View) -> RenderableType:
    """Return what is printed."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    total = shown.total
    heading = (
        f"{total['number']:,} contexts, {total['active']:,} active; "
        f"{_mib(total['fast'])} MiB in fast memory, {_mib(total['slow'])} MiB in slow memory"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("fast, MiB", "slow, MiB", "active", "age", "openers", "CPU"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("of", overflow="ellipsis", no_wrap=True)
    for place, each in shown.rows:
        active = "yes" if each.active else "no"
        numbers = (each.age, each.openers, each.cpu)
        name = _printable(place) + ("/" if each.kind == "directory" and place != "/" else "")
        table.add_row(_mib(each.fast), _mib(each.slow), active, *map(str, numbers), Text(name))
    return Group(Text(heading), table)


def _document(shown: View) -> dict[str, Any]:
    rows = [{"place": place, **asdict(each)} for place, each in shown.rows]
    return {"page_bytes": _page_bytes(), "total": shown.total, "contexts": rows}


def _lines(args: argparse.Namespace) -> int:
    """Return how many contexts are shown, 0 for all."""
    if args.lines is not None:
        return int(args.lines)
    if args.json:
        return 0
    out = terminal.stdout()
    return max(1, out.height - ABOVE_AND_BELOW) if out.is_terminal else LINES


def _out() -> Console:
    """Return the console for results; paths are cut where a terminal's line ends, nowhere else."""
    from rich.console import Console

    out = terminal.stdout()
    return out if out.is_terminal else Console(highlight=False, width=WIDE)


def _printable(text: str) -> str:
    """Return a path as a terminal can take it: no control characters, no broken UTF-8."""
    whole = text.encode(errors="surrogateescape").decode(errors="replace")
    return "".join(each if each.isprintable() else "\ufffd" for each in whole)


def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def _mib(pages: int) -> str:
    return f"{pages * _page_bytes() / (1 << 20):,.1f}"


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.1 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds from 0.1 to 86400")
    return value
