# SPDX-License-Identifier: GPL-2.0
"""`kloc status`: shows settings, counters and totals of contexts on the running kernel."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import output
from kloc.server import contexts

if TYPE_CHECKING:
    from rich.table import Table

USAGE = ("[options]",)

DESCRIPTION = """\
Show the settings, the counters and the totals of contexts on the running kernel: on a server with
CONFIG_KLOC, or in kloc's machine. The pages in each tier are only known to root.
"""

EXAMPLES = (
    ("kloc status", "print tables"),
    ("kloc status --json -", "print all counters as JSON"),
)

GROUPS = ("demoted", "promoted", "not_moved", "placed")
"""The groups of page counters in the file stat, which are called GROUP_REASON_KIND."""

SCOPES = {
    contexts.ALL: "files of all processes",
    contexts.CHOSEN: "files of chosen processes and cgroups (kloc choose, memory.kloc.enabled)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    output.add_json(parser.add_argument_group("output"))


def run(args: argparse.Namespace) -> int:
    """Print the status."""
    output.check(args)
    contexts.check_kernel()
    status = document()
    output.deliver(args, status, lambda: _print(status))
    for remark in _remarks(status):
        terminal.say(remark)
    return 0


def document() -> dict[str, Any]:
    """Return the status as --json writes it; memory is in pages unless the key says bytes."""
    settings = contexts.read_settings()
    counts = contexts.read_counts()
    totals, unseen = _totals_by_kind()
    return {
        "kernel": os.uname().release,
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "enabled": contexts.enabled(),
        "scope": settings.get("scope", contexts.ALL),
        "settings": settings,
        "limits": {
            "nodes_kb": contexts.read_node_limits(),
            "cgroups": contexts.read_cgroup_limits(),
        },
        "knodes": counts.get("knodes", 0),
        "contexts": totals,
        "contexts_unseen": unseen,
        **{group: _by_reason(counts, group) for group in GROUPS},
        "memory": {
            "knodes": counts.get("knode_bytes", 0),
            "pages": counts.get("page_bytes", 0),
        },
        "lookups": {
            "saved": counts.get("kmap_lookups_saved", 0),
            "made": counts.get("kmap_lookups", 0),
        },
        "counts": counts,
    }


def _totals_by_kind() -> tuple[dict[str, Counter[str]] | None, str | None]:
    """Return the number of contexts and their pages by kind; or None and why they are unknown."""
    kinds: dict[str, Counter[str]] = {}
    try:
        for context in contexts.read_contexts():
            totals = kinds.setdefault(context.kind, Counter(number=0, active=0, fast=0, slow=0))
            totals.update(
                number=1, active=int(context.active), fast=context.fast, slow=context.slow
            )
    except KlocError as error:
        return None, f"{error.message}; {error.hint}"
    return dict(sorted(kinds.items())), None


def _by_reason(counts: Mapping[str, int], group: str) -> dict[str, int]:
    """Return the pages of a group by reason, of all kinds together."""
    reasons: Counter[str] = Counter()
    for name, pages in counts.items():
        if name.startswith(f"{group}_"):
            reasons[name.removeprefix(f"{group}_").rpartition("_")[0]] += pages
    return dict(reasons)


def _remarks(status: Mapping[str, Any]) -> Iterator[str]:
    if not status["enabled"]:
        yield f"contexts are disabled; {contexts.HOW_TO_ENABLE}"
    if status["contexts_unseen"]:
        yield f"pages in each tier are unknown: {status['contexts_unseen']}"


def _print(status: Mapping[str, Any]) -> None:
    out = terminal.stdout()
    out.print(_state(status))
    out.print(_moves(status))
    if status["contexts"]:
        out.print(_contexts(status))


def _state(status: Mapping[str, Any]) -> Table:
    from rich.table import Table

    settings = status["settings"]
    saved, made = status["lookups"]["saved"], status["lookups"]["made"]
    rows = {
        "contexts": f"{'enabled' if status['enabled'] else 'disabled'}, Linux {status['kernel']}",
        "mode": settings.get("mode", ""),
        "scope": SCOPES.get(status["scope"], status["scope"]),
        "kinds": ", ".join(settings.get("kinds", "").split()) or "none",
        "limits": _limits(status["limits"]),
        "rate": f"{settings['rate_mbps']} MB/s" if settings.get("rate_mbps", "0") != "0" else "any",
        "knodes": f"{status['knodes']:,}, {_knode_memory(status)}",
        "counts of pages": _mib(status["memory"]["pages"]),
        "kmap look-ups saved": f"{_share(saved, saved + made)} of {saved + made:,}",
        "streams": f"{_total(status, 'predicted'):,} predicted, "
        f"{_total(status, 'mispredicted'):,} of them wrong",
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for label, value in rows.items():
        table.add_row(label, value)
    return table


def _knode_memory(status: Mapping[str, Any]) -> str:
    """Return the memory of knodes, and its share of the pages that their contexts have."""
    size = status["memory"]["knodes"]
    if not status["contexts"]:
        return _mib(size)
    pages = sum(totals["fast"] + totals["slow"] for totals in status["contexts"].values())
    return f"{_mib(size)}, {_share(size, pages * status['page_bytes'])} of their pages"


def _limits(limits: Mapping[str, Any]) -> str:
    """Return the limits of nodes and cgroups on fast memory that are set."""
    parts = [
        f"{node} {_mib(int(value) << 10)}"
        for node, value in limits["nodes_kb"].items()
        if value != contexts.NO_LIMIT
    ]
    for name, group in limits["cgroups"].items():
        if group["max"] != contexts.NO_LIMIT:
            used = _mib(int(group.get("current", 0)))
            parts.append(f"{name} {used} of {_mib(int(group['max']))}")
    return ", ".join(parts) or "none"


def _moves(status: Mapping[str, Any]) -> Table:
    """Return a table of pages by what happened to them and why.

    Percentages of moves are of all attempted moves, failed ones included.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("pages since boot", "number", "MiB", "share"):
        table.add_column(title, justify="left" if title.startswith("pages") else "right")
    attempted = sum(sum(status[group].values()) for group in ("demoted", "promoted", "not_moved"))
    placed = sum(status["placed"].values())
    for group in GROUPS:
        total = placed if group == "placed" else attempted
        for reason, pages in status[group].items():
            size = _mib(pages * status["page_bytes"], "")
            label = f"{group.replace('_', ' ')}, {reason}"
            table.add_row(label, f"{pages:,}", size, _share(pages, total))
    return table


def _contexts(status: Mapping[str, Any]) -> Table:
    """Return a table of contexts by kind."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("contexts now")
    for title in ("number", "active", "fast, MiB", "slow, MiB"):
        table.add_column(title, justify="right")
    for kind, totals in status["contexts"].items():
        sizes = [_mib(totals[tier] * status["page_bytes"], "") for tier in ("fast", "slow")]
        table.add_row(kind, f"{totals['number']:,}", f"{totals['active']:,}", *sizes)
    return table


def _total(status: Mapping[str, Any], event: str) -> int:
    """Return the sum of an event's counters over all kinds."""
    counts: Mapping[str, int] = status["counts"]
    return sum(value for name, value in counts.items() if name.startswith(f"{event}_"))


def _mib(size: int, unit: str = " MiB") -> str:
    return f"{size / (1 << 20):,.1f}{unit}"


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.1f} %" if total else "-"
