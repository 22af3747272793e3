# SPDX-License-Identifier: GPL-2.0
"""How the commands that list something print it: a table, or all of it as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kloc.base import terminal
from kloc.base.errors import unknown
from kloc.commands import options


def add_arguments(parser: argparse.ArgumentParser, names: options.Names) -> None:
    """Add the options of a listing of `names`."""
    shown = parser.add_argument("names", nargs="*", metavar="NAME", help="show these in full")
    options.completes(shown, names)
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all of it there ('-': to stdout)"
    )


def show(args: argparse.Namespace, rows: Sequence[Mapping[str, Any]]) -> int:
    """Print `rows`, each with a name and a summary; those named on the command line in full."""
    from rich.table import Table

    by_name = {row["name"]: row for row in rows}
    for name in args.names:
        if name not in by_name:
            raise unknown(args.command.NAME.rstrip("s").replace("policie", "policy"), name, by_name)
    chosen = [by_name[name] for name in args.names] or list(rows)
    if args.json is not None:
        text = json.dumps(chosen, indent=1)
        if str(args.json) == "-":
            print(text)
        else:
            options.check_outputs(args)
            args.json.write_text(text + "\n")
        return 0
    table = Table(show_header=False, box=None)
    for row in chosen:
        table.add_row(row["name"], row["summary"])
        if args.names:
            for label, value in _details(row):
                table.add_row("", f"{label}: {value}")
    terminal.stdout().print(table)
    return 0


def _details(row: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for key, value in row.items():
        if key in ("name", "summary") or value in ({}, [], None, ""):
            continue
        if isinstance(value, Mapping):
            lines += _details(value, f"{prefix}{key} ")
        else:
            lines.append(
                (
                    prefix + key,
                    ", ".join(map(str, value)) if isinstance(value, list) else str(value),
                )
            )
    return lines
