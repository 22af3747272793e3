# SPDX-License-Identifier: GPL-2.0
"""`kloc top`: shows the contexts on the running kernel, the largest first, until Ctrl-C."""

from __future__ import annotations

import argparse
import heapq
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import output, values
from kloc.server import contexts, tiering
from kloc.server.contexts import Context

if TYPE_CHECKING:
    from rich.console import RenderableType

USAGE = ("[options]",)

DESCRIPTION = """\
Show the contexts on the running kernel with their paths, pages in each tier, age and last CPU. On
a terminal the list is updated in place until Ctrl-C. This needs root.
"""

EXAMPLES = (
    ("kloc top --sort slow", "the most slow memory first"),
    ("kloc top --once --lines 0", "all contexts, once"),
)

Key = Callable[[Context], Any]
KEYS: dict[str, Key] = {
    "fast": lambda context: context.fast,
    "slow": lambda context: context.slow,
    "size": lambda context: context.fast + context.slow,
    "age": lambda context: context.age,
    "id": lambda context: context.id,
}
"""The keys of --sort; contexts with the highest value come first."""

LINES = 20
"""How many contexts are shown where there is no terminal."""

OTHER_LINES = 5
"""Lines on the terminal that show no context."""


@dataclass(frozen=True)
class View:
    """The shown contexts with their paths, and the totals of all contexts."""

    rows: list[tuple[str, Context]]
    total: Counter[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    group = parser.add_argument_group("selection")
    group.add_argument(
        "--sort",
        metavar="KEY",
        choices=list(KEYS),
        default="fast",
        help=f"the highest value of KEY first: {', '.join(KEYS)} (default: %(default)s)",
    )
    group.add_argument(
        "--lines",
        type=values.whole_number(0),
        metavar="N",
        help=f"show N contexts, 0 for all (default: what fits the terminal, else {LINES}; "
        "all in JSON)",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--interval",
        type=values.interval,
        default=2.0,
        metavar="SECONDS",
        help="update the list after so many seconds (default: %(default)g)",
    )
    group.add_argument("--once", action="store_true", help="print the list once, and end")
    output.add_json(group)


def run(args: argparse.Namespace) -> int:
    """Show the contexts: once with --once or --json, else until Ctrl-C."""
    output.check(args)
    tiering.check_kernel()
    if not contexts.exist():
        raise KlocError(contexts.missing(), contexts.HOW_TO_SELECT)
    if args.json is not None:
        shown = view(args)
        output.deliver(args, _document(shown), lambda: terminal.lists().print(picture(shown)))
    elif args.once:
        terminal.lists().print(picture(view(args)))
    else:
        _follow(args)
    return 0


def _follow(args: argparse.Namespace) -> None:
    """Show the contexts until Ctrl-C: in place on a terminal, elsewhere one view after the other.

    The machine's serial console cannot move its cursor, so it gets one view after the other, too.
    """
    console = terminal.lists()
    try:
        if not console.is_interactive:
            while True:
                console.print(picture(view(args)))
                console.file.flush()
                time.sleep(args.interval)
        from rich.live import Live

        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(picture(view(args)), refresh=True)
                time.sleep(args.interval)
    except KeyboardInterrupt:
        return


def view(args: argparse.Namespace) -> View:
    """Read all contexts, and keep those that are shown."""
    total: Counter[str] = Counter(number=0, active=0, fast=0, slow=0)

    def count(context: Context) -> Context:
        total.update(number=1, active=int(context.active), fast=context.fast, slow=context.slow)
        return context

    counted = (count(context) for context in contexts.read_contexts())
    key = KEYS[args.sort]

    def rank(context: Context) -> tuple[Any, int]:
        return key(context), -context.id

    lines = _lines(args)
    first = (
        heapq.nlargest(lines, counted, rank) if lines else sorted(counted, key=rank, reverse=True)
    )
    mounts = contexts.read_mounts()
    return View([(contexts.visible_path(context, mounts), context) for context in first], total)


def picture(shown: View) -> RenderableType:
    """Return the heading and the table of a view."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    total = shown.total
    heading = (
        f"policy {tiering.selected()}: {total['number']:,} contexts, {total['active']:,} active; "
        f"{_mib(total['fast'])} MiB in fast memory, {_mib(total['slow'])} MiB in slow memory"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for title in ("fast, MiB", "slow, MiB", "active", "age", "open", "CPU"):
        table.add_column(title, justify="right", no_wrap=True)
    # The only column that gives way if the terminal is narrow: the others are never cut.
    table.add_column("path", overflow="ellipsis")
    for path, context in shown.rows:
        active, is_open = ("yes" if value else "no" for value in (context.active, context.open))
        sizes = (_mib(context.fast), _mib(context.slow))
        age, cpu = str(context.age), str(context.cpu)
        table.add_row(*sizes, active, age, is_open, cpu, Text(_printable(path), no_wrap=True))
    return Group(Text(heading), table)


def _document(shown: View) -> dict[str, Any]:
    """Return a view as --json writes it."""
    rows = [{"place": path, **asdict(context)} for path, context in shown.rows]
    return {
        "page_bytes": _page_bytes(),
        "policy": tiering.selected(),
        "total": shown.total,
        "contexts": rows,
    }


def _lines(args: argparse.Namespace) -> int:
    """Return how many contexts are shown, 0 for all."""
    if args.lines is not None:
        return int(args.lines)
    if args.json is not None:
        return 0
    console = terminal.stdout()
    return max(1, console.height - OTHER_LINES) if console.is_terminal else LINES


def _printable(text: str) -> str:
    """Return a path with control characters and invalid UTF-8 replaced."""
    text = text.encode(errors="surrogateescape").decode(errors="replace")
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def _mib(pages: int) -> str:
    return f"{pages * _page_bytes() / (1 << 20):,.1f}"
