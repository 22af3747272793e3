# SPDX-License-Identifier: GPL-2.0
"""`kloc limit`: limits the fast memory of a cgroup's page cache, or of all page cache on a node."""

from __future__ import annotations

import argparse
import re

from kloc.base import terminal
from kloc.base.errors import UsageError
from kloc.server import cgroups, config, contexts, control, plan, tiering

USAGE = ("[options]", "[options] WHERE LIMIT")

DESCRIPTION = """\
Limit how much page cache of a cgroup, or of all files on a node, may be in fast memory. What is
above the limit goes to slow memory. Without arguments, list the limits.

The limit holds until kloc is turned off, or on again. While kloc is off, it stays until it is
removed.
"""

EXAMPLES = (
    ("kloc limit mysql.service 16G", "limit a unit's page cache in fast memory"),
    ("kloc limit node0 64G", "limit all page cache on node 0"),
    ("kloc limit mysql.service max", "remove a limit"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "where",
        nargs="?",
        metavar="WHERE",
        help="a cgroup: its path, its unit, or . for kloc's own; or a fast node, such as node0",
    )
    group.add_argument(
        "limit", nargs="?", metavar="LIMIT", help="a size such as 16G or 512M, or max for no limit"
    )


def run(args: argparse.Namespace) -> int:
    """Set a limit, or list all of them."""
    tiering.check_kernel()
    if args.where is None:
        _print()
        return 0
    if args.limit is None:
        raise UsageError("missing argument: LIMIT", config.A_LIMIT.replace('"', "'"))
    try:
        limit = config.parse_limit(args.limit)
    except ValueError as error:
        raise UsageError(str(error), config.A_LIMIT.replace('"', "'")) from error
    if not control.set_limits([_write(args.where, limit)]):
        terminal.say(f"kloc is off: this limit stays until kloc limit {args.where} max")
    if not contexts.exist():
        terminal.say(f"this has no effect: {contexts.missing()}")
    return 0


def _write(where: str, limit: int | None) -> plan.Write:
    """Return the file of a limit, and what to write to it."""
    if re.fullmatch(r"node\d+", where):
        return f"/{tiering.FOLDER}/{where}/max_kb", plan.limit_text(limit, kib=True)
    return cgroups.file(cgroups.find(where), cgroups.MAX), plan.limit_text(limit)


def _print() -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("limit of fast memory")
    for title in ("limit, MiB", "used, MiB"):
        table.add_column(title, justify="right")
    for node, text in contexts.read_node_limits().items():
        if text != contexts.NO_LIMIT:
            table.add_row(node, _mib(int(text) << 10), "")
    for name, group in contexts.read_cgroup_limits().items():
        if group["max"] != contexts.NO_LIMIT:
            table.add_row(name, _mib(int(group["max"])), _mib(int(group.get("current", 0))))
    if not table.row_count:
        print("no limits")
        return
    terminal.lists().print(table)


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.1f}"
