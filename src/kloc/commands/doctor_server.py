# SPDX-License-Identifier: GPL-2.0
"""`kloc doctor --server`: checks whether the running system can tier its memory."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from kloc.base import terminal
from kloc.commands import output
from kloc.server import checks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --server."""
    parser.add_argument_group("server").add_argument(
        "--server",
        action="store_true",
        help="check instead whether this system can tier its memory: kernel, tiers, firmware, "
        "policy, demotion, what else moves memory, and what kloc on would refuse",
    )


def show(args: argparse.Namespace) -> int:
    """Print the findings and return 1 if one is not well."""
    found = checks.findings()
    output.deliver(args, {"findings": [asdict(one) for one in found]}, lambda: _print(found))
    return 0 if all(one.well for one in found) else 1


def _print(found: Sequence[checks.Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False)
    for one in found:
        mark = Text("ok", "green") if one.well else Text("!!", "red")
        table.add_row(mark, one.what, Text(one.state))
        if one.remedy:
            table.add_row("", "", Text(one.remedy, "yellow"))
    terminal.lists().print(table)
