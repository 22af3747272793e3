# SPDX-License-Identifier: GPL-2.0
"""Lists things with a name and a summary, for the commands `workloads`, `policies`, `machines`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from kloc.base import terminal
from kloc.base.errors import unknown
from kloc.commands import completers, options, output

INDENT = 2
"""By how many characters the values of a table are indented."""

Row = Mapping[str, Any]
"""One thing: its name, its summary and its details, as --json writes them."""


def add_arguments(parser: argparse.ArgumentParser, names: completers.Names, *more: str) -> None:
    """Add the arguments and options of a list of `names`, and the shared options `more`."""
    action = parser.add_argument_group("arguments").add_argument(
        "names", nargs="*", metavar="NAME", help="show these only, with all details"
    )
    completers.complete_names(action, names)
    options.add(parser.add_argument_group("output"), *more, "json")


def show(args: argparse.Namespace, noun: str, rows: Sequence[Row]) -> int:
    """Print all `rows`, or those that the user named with their details; `noun` is what one is.

    Raises UsageError if the user named one that does not exist.
    """
    output.check(args)
    by_name = {row["name"]: row for row in rows}
    for name in args.names:
        if name not in by_name:
            raise unknown(noun, name, by_name)
    chosen = [by_name[name] for name in args.names] or list(rows)
    output.deliver(args, chosen, lambda: _print(chosen, bool(args.names)))
    return 0


def _print(rows: Sequence[Row], with_details: bool) -> None:
    from rich.padding import Padding
    from rich.table import Table

    table = Table(show_header=False, box=None)
    table.add_column()
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(row["name"], row["summary"])
        if with_details:
            for depth, text in _details(row):
                table.add_row("", Padding(text, (0, 0, 0, INDENT * depth), expand=False))
    terminal.lists().print(table)


def _details(row: Row, depth: int = 0) -> list[tuple[int, str]]:
    """Return the lines on what a row has besides name and summary, each with its indentation.

    A table has a line of its own, and its values below it. What is empty is left out.
    """
    lines: list[tuple[int, str]] = []
    for key, value in row.items():
        if key in ("name", "summary") or value in ({}, [], None, ""):
            continue
        if isinstance(value, Mapping):
            lines += [(depth, f"{key}:"), *_details(value, depth + 1)]
        elif isinstance(value, list):
            lines.append((depth, f"{key}: {', '.join(map(str, value))}"))
        else:
            lines.append((depth, f"{key}: {value}"))
    return lines
