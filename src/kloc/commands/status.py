# SPDX-License-Identifier: GPL-2.0
"""`kloc status`: what contexts do in the kernel that runs here."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.server import contexts

if TYPE_CHECKING:
    from rich.table import Table

NAME = "status"
HELP = "say what contexts do in the kernel that runs here: on a server with it, or in the machine"

GROUPS = ("demoted", "promoted", "not_moved", "placed")
"""What is counted in pages, by reason and by kind of object: GROUP_REASON_KIND in stat."""

SCOPES = {
    contexts.ALL: "files of all processes",
    contexts.CHOSEN: "files of chosen processes and cgroups (kloc enable, memory.kloc.enabled)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print it; return the exit status."""
    contexts.check_kernel()
    status = document()
    if args.json:
        print(json.dumps(status, indent=1))
    else:
        _print(status)
    for remark in _remarks(status):
        terminal.say(remark)
    return 0


def document() -> dict[str, Any]:
    """Return all that is known, numbers of pages in pages."""
    settings = contexts.read_settings()
    counts = contexts.read_counts()
    tiers, unseen = _tiers()
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
        "contexts": tiers,
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


def _tiers() -> tuple[dict[str, Counter[str]] | None, str | None]:
    """Return by kind how many contexts there are, and their pages; or None, and why not."""
    kinds: dict[str, Counter[str]] = {}
    try:
        for each in contexts.read_contexts():
            of = kinds.setdefault(each.kind, Counter(number=0, active=0, fast=0, slow=0))
            of.update(number=1, active=int(each.active), fast=each.fast, slow=each.slow)
    except KlocError as error:
        return None, f"{error.message}; {error.hint}"
    return dict(sorted(kinds.items())), None


def _by_reason(counts: Mapping[str, int], group: str) -> dict[str, int]:
    """Return the pages of a group by reason, all kinds together."""
    reasons: Counter[str] = Counter()
    for name, pages in counts.items():
        if name.startswith(f"{group}_"):
            reasons[name.removeprefix(f"{group}_").rpartition("_")[0]] += pages
    return dict(reasons)


def _remarks(status: Mapping[str, Any]) -> Iterator[str]:
    if not status["enabled"]:
        yield f"contexts are switched off; {contexts.HOW_TO_ENABLE}"
    if status["contexts_unseen"]:
        yield f"pages in each tier are not known: {status['contexts_unseen']}"


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
        "contexts": f"{'on' if status['enabled'] else 'off'}, Linux {status['kernel']}",
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
    """Return what knodes take, and what part that is of the pages that their contexts hold."""
    size = status["memory"]["knodes"]
    if not status["contexts"]:
        return _mib(size)
    pages = sum(of["fast"] + of["slow"] for of in status["contexts"].values())
    return f"{_mib(size)}, {_share(size, pages * status['page_bytes'])} of their pages"


def _limits(limits: Mapping[str, Any]) -> str:
    """Return in words what contexts may have of fast memory."""
    said = [
        f"{node} {_mib(int(value) << 10)}"
        for node, value in limits["nodes_kb"].items()
        if value != contexts.NO_LIMIT
    ]
    for name, group in limits["cgroups"].items():
        if group["max"] != contexts.NO_LIMIT:
            used = _mib(int(group.get("current", 0)))
            said.append(f"{name} {used} of {_mib(int(group['max']))}")
    return ", ".join(said) or "none"


def _moves(status: Mapping[str, Any]) -> Table:
    """Return what was moved and what was not, and why; shares are of all that could have been."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("pages since boot", "number", "MiB", "share"):
        table.add_column(title, justify="left" if title.startswith("pages") else "right")
    tried = sum(sum(status[group].values()) for group in ("demoted", "promoted", "not_moved"))
    placed = sum(status["placed"].values())
    for group in GROUPS:
        of = placed if group == "placed" else tried
        for reason, pages in status[group].items():
            label = f"{group.replace('_', ' ')}, {reason}"
            table.add_row(
                label, f"{pages:,}", _mib(pages * status["page_bytes"], ""), _share(pages, of)
            )
    return table


def _contexts(status: Mapping[str, Any]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("contexts now")
    for title in ("number", "active", "fast, MiB", "slow, MiB"):
        table.add_column(title, justify="right")
    for kind, of in status["contexts"].items():
        tiers = [_mib(of[tier] * status["page_bytes"], "") for tier in ("fast", "slow")]
        table.add_row(kind, f"{of['number']:,}", f"{of['active']:,}", *tiers)
    return table


def _total(status: Mapping[str, Any], event: str) -> int:
    """Return a count of all kinds together."""
    of_kinds = (value for name, value in status["counts"].items() if name.startswith(f"{event}_"))
    return sum(of_kinds)


def _mib(size: int, unit: str = " MiB") -> str:
    return f"{size / (1 << 20):,.1f}{unit}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
