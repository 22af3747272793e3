# SPDX-License-Identifier: GPL-2.0
"""`kloc status`: shows the selected policy of memory tiers, its counts and its contexts."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import output
from kloc.server import contexts, control, daemons, kernel_settings, memory, slabs, tiering

if TYPE_CHECKING:
    from rich.table import Table

USAGE = ("[options]",)

DESCRIPTION = """\
Show which policy of memory tiers the running kernel has selected, its settings, what it moved and
placed since boot, and the contexts of files: on a server with CONFIG_TIERING, or in kloc's machine.
The pages of contexts in each tier are only known to root.
"""

EXAMPLES = (
    ("kloc status", "print tables"),
    ("kloc status --json -", "print all counts as JSON"),
)

MOVES = ("demoted", "promoted")
"""The groups of counts of pages that were copied."""

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
    tiering.check_kernel()
    status = document()
    output.deliver(args, status, lambda: _print(status))
    for remark in _remarks(status):
        terminal.say(remark)
    return 0


def document() -> dict[str, Any]:
    """Return the status as --json writes it; memory is in pages unless the key says bytes."""
    counts = tiering.read_counts()
    has_contexts = contexts.exist()
    record = control.recorded()
    totals, unseen = _totals_by_kind() if has_contexts else ({}, None)
    return {
        "kernel": os.uname().release,
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "policy": tiering.selected(),
        "policies": tiering.names(),
        "on": None if record is None else _on_record(record),
        "has_contexts": has_contexts,
        "scope": contexts.scope(),
        "kinds": contexts.kinds(),
        "settings": tiering.read_settings(),
        "limits": {
            "nodes_kb": contexts.read_node_limits(),
            "cgroups": contexts.read_cgroup_limits(),
        },
        "kernel_settings": kernel_settings.read_all(),
        "nodes": {number: asdict(node) for number, node in memory.read_nodes().items()},
        "knodes": contexts.read_figure("knodes"),
        "contexts": totals,
        "contexts_unseen": unseen,
        "slabs": slabs.read_caches(),
        **{group: _by_reason(counts, group) for group in tiering.REASONS},
        **{
            fate: {group: _by_reason(counts, group, f"_{fate}") for group in MOVES}
            for fate in (tiering.FREED, tiering.RETURNED)
        },
        "memory": {
            "knodes": contexts.read_figure("knode_bytes"),
            "pages": tiering.read_page_bytes(),
        },
        "counts": counts,
    }


def _totals_by_kind() -> tuple[dict[str, Counter[str]] | None, str | None]:
    """Return the number of contexts and their pages by kind; or None and why they are unknown."""
    try:
        return contexts.totals_by_kind(), None
    except KlocError as error:
        return None, f"{error.message}; {error.hint}"


def _by_reason(
    counts: Mapping[str, Mapping[str, int]], group: str, suffix: str = ""
) -> dict[str, int]:
    """Return the pages of a group by reason, of all kinds together.

    `suffix` is that of the names of the counts.
    """
    return {
        reason: sum(kind.get(f"{group}_{reason}{suffix}", 0) for kind in counts.values())
        for reason in tiering.REASONS[group]
    }


def _remarks(status: Mapping[str, Any]) -> Iterator[str]:
    if not status["has_contexts"]:
        yield f"{contexts.missing()}; {contexts.HOW_TO_SELECT}"
    if status["contexts_unseen"]:
        yield f"pages in each tier are unknown: {status['contexts_unseen']}"
    if status["has_contexts"]:
        yield from kernel_settings.remarks(status["kernel_settings"])
    nodes = {number: memory.Node(**node) for number, node in status["nodes"].items()}
    moves_slabs = bool(status["has_contexts"] and status["slabs"])
    yield from memory.remarks(nodes, status["policy"], moves_slabs)


def _print(status: Mapping[str, Any]) -> None:
    out = terminal.lists()
    out.print(_state(status))
    out.print(_moves(status))
    if status["contexts"]:
        out.print(_contexts(status))
    if status["slabs"]:
        out.print(_slabs(status))
        if away := sum(pages.get("slow_away", 0) for pages in status["slabs"].values()):
            size = _mib(away * status["page_bytes"])
            out.print(f"{size} of slabs came from fast memory: reclaim of slow memory misses them.")


def _state(status: Mapping[str, Any]) -> Table:
    from rich.table import Table

    rows = {
        "policy": f"{status['policy']}, Linux {status['kernel']}",
        **({"kloc": _on(status["on"])} if status["on"] else {}),
        **_settings(status),
        **(_contexts_state(status) if status["has_contexts"] else {}),
        "limits": _limits(status["limits"]),
        "kernel settings": _kernel_settings(status["kernel_settings"]),
        "records of pages": _mib(status["memory"]["pages"]),
        "copies": _wasted(status),
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for label, value in rows.items():
        table.add_row(label, value)
    return table


def _on_record(record: control.Record) -> dict[str, Any]:
    """Return what --json says of kloc on; without a daemon, nothing about one."""
    daemon = record.daemon
    runs = {} if daemon is None else {"daemon": daemon, "daemon_runs": daemons.is_active(daemon)}
    return {"policy": record.policy, "config": record.config, **runs}


def _on(record: Mapping[str, Any]) -> str:
    """Return by which settings kloc is on, and whether the policy's daemon runs."""
    on = f"on: policy {record['policy']}, {record['config'] or 'default settings'}"
    if "daemon" not in record:
        return on
    state = "runs" if record["daemon_runs"] else "does not run"
    return f"{on}; its daemon {state} ({daemons.unit(record['daemon'])})"


def _settings(status: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that the selected policy has, by label."""
    settings, rows = status["settings"], {}
    if "scan_us" in settings:
        rows["scan"] = f"{int(settings['scan_us']) / 1000:,g} ms"
    if "rate_mbps" in settings:
        rate = settings["rate_mbps"]
        rows["rate"] = "no limit" if rate == "0" else f"{int(rate):,} MiB/s"
    if "pin" in settings:
        rows["pin"] = f"pages stay in fast memory after {settings['pin']} moves"
    own = f"{status['policy']}/"
    for name, value in settings.items():
        if name.startswith(own):
            rows[name.removeprefix(own).replace("_", " ")] = value
    return rows


def _kernel_settings(values: Mapping[str, int | None]) -> str:
    """Return the settings of the kernel that the policy kloc depends on."""
    return ", ".join(
        f"{name} {'missing' if value is None else value}" for name, value in values.items()
    )


def _contexts_state(status: Mapping[str, Any]) -> dict[str, str]:
    """Return whose files have contexts, and the memory of these, by label."""
    return {
        "contexts": SCOPES.get(status["scope"], status["scope"]),
        "kinds": ", ".join(status["kinds"]) or "none",
        "knodes": f"{status['knodes']:,}, {_knode_memory(status)}",
    }


def _wasted(status: Mapping[str, Any]) -> str:
    """Return which shares of the copied pages were freed, or moved back, soon after that."""
    copied = sum(sum(status[group].values()) for group in MOVES)
    freed, returned = (
        _share(sum(sum(group.values()) for group in status[fate].values()), copied)
        for fate in (tiering.FREED, tiering.RETURNED)
    )
    if not copied:
        return "no page was copied"
    return f"{freed} freed and {returned} moved back too soon"


def _knode_memory(status: Mapping[str, Any]) -> str:
    """Return the memory of knodes, and its share of the pages that their contexts have."""
    size = status["memory"]["knodes"]
    if not status["contexts"]:
        return _kib(size)
    pages = sum(totals["fast"] + totals["slow"] for totals in status["contexts"].values())
    return f"{_kib(size)}, {_share(size, pages * status['page_bytes'])} of their pages"


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

    Shares of moves are of all attempted moves, failed ones included. `freed` and `returned` are
    shares of the pages that were copied for the same reason.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("pages since boot", "number", "MiB", "share", "freed", "returned"):
        table.add_column(title, justify="left" if title.startswith("pages") else "right")
    attempted = sum(sum(status[group].values()) for group in (*MOVES, "not_moved"))
    placed = sum(status["placed"].values())
    for group in tiering.REASONS:
        total = placed if group == "placed" else attempted
        for reason, pages in status[group].items():
            size = _mib(pages * status["page_bytes"], "")
            label = f"{group.replace('_', ' ')}, {reason}"
            fates = [
                _share(status[fate][group][reason], pages) if group in MOVES else ""
                for fate in (tiering.FREED, tiering.RETURNED)
            ]
            table.add_row(label, f"{pages:,}", size, _share(pages, total), *fates)
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


def _slabs(status: Mapping[str, Any]) -> Table:
    """Return a table of the caches whose slabs can move."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("slabs")
    for title in ("fast,\nMiB", "unused", "slow,\nMiB", "unused", "promoted", "demoted"):
        table.add_column(title, justify="right")
    for cache, pages in status["slabs"].items():
        tiers = []
        for tier in ("fast", "slow"):
            tiers.append(_mib(pages[tier] * status["page_bytes"], ""))
            tiers.append(_share(pages[f"{tier}_unused"], pages[tier]))
        moved = [f"{pages[direction]:,}" for direction in ("promoted", "demoted")]
        table.add_row(cache, *tiers, *moved)
    return table


def _mib(size: int, unit: str = " MiB") -> str:
    return f"{size / (1 << 20):,.1f}{unit}"


def _kib(size: int) -> str:
    return f"{-(-size // 1024):,} KiB"


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.1f} %" if total else "-"
