# SPDX-License-Identifier: GPL-2.0
"""The sections on the server that a native comparison was measured on, and what its runs took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from kloc.base.sizes import rounded_size
from kloc.base.stats import total
from kloc.results import native
from kloc.results.report import formats
from kloc.results.report.cases import Case
from kloc.results.report.figure import Table
from kloc.results.report.structure import Block, Section

MODES = ("user", "system")


def section(document: Mapping[str, Any]) -> Section:
    """Return the section on the server."""
    server, kernel = document["native"], document["kernel"]
    nodes = Table(
        ["node", "tier", "memory", "CPUs", "latency", "bandwidth"],
        [
            [
                number,
                node["tier"] or "",
                rounded_size(node["bytes"]),
                node["cpus"] or "none",
                f"{node['latency_ns']:g} ns" if "latency_ns" in node else "",
                f"{node['bandwidth']:g} GB/s" if "bandwidth" in node else "",
            ]
            for number, node in server["nodes"].items()
        ],
    )
    facts = [["host", server["host"]], ["processor", server["cpu"]], ["CPUs", str(server["cpus"])]]
    facts += [[f"kernel, {name}", str(value)] for name, value in kernel.items()]
    packages = (document["versions"].get("packages") or {}).items()
    facts += [[f"package {name}", str(version)] for name, version in packages]
    intro = (
        "Measured on this server itself, without the simulated machine. Latencies and bandwidths "
        "are those that its firmware tells (HMAT, CDAT), not measured ones."
    )
    blocks = [Block(tables=[nodes]), Block(tables=[Table(["", ""], facts, names=2)])]
    lines = native.left_out(document)
    return Section(
        "server", "The server", intro, [*blocks, Block(lines=lines)] if lines else blocks
    )


def effort(all_cases: Sequence[Case]) -> Section | None:
    """Return the section on CPU time and memory of the programs; None if they were not counted."""
    blocks = []
    for case in all_cases:
        rows = [_row(policy, case.runs_under(policy)) for policy in case.policies]
        if any(any(row[1:]) for row in rows):
            head = ["policy", "user time", "system time", "in fast memory", "in slow memory"]
            title = case.name if len(all_cases) > 1 else ""
            blocks.append(Block(title, tables=[Table(head, rows)]))
    if not blocks:
        return None
    intro = "CPU time of the measured part, and memory at its end: medians over rounds."
    return Section("effort", "CPU time and memory", intro, blocks)


def _row(policy: str, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    cpu = [run["cpu_ns"] for run in runs if "cpu_ns" in run]
    memory = [run["memory_bytes"]["end"] for run in runs if "memory_bytes" in run]
    return [
        policy,
        *(formats.seconds(median(one[way] for one in cpu) / 1e9) if cpu else "" for way in MODES),
        *(
            rounded_size(median(total(one[tier]) for one in memory)) if memory else ""
            for tier in ("fast", "slow")
        ),
    ]
