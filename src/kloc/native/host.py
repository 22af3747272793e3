# SPDX-License-Identifier: GPL-2.0
"""The server that a native comparison runs on: what it is, and whether it can be compared on."""

from __future__ import annotations

import os
import platform
import re
import socket
from typing import Any

from kloc.base import numa
from kloc.base.errors import KlocError
from kloc.server import checks, memory, system
from kloc.server.plan import one_tier
from kloc.server.system import AS_ROOT, read

HOW_TO_TRY = (
    "kloc doctor --server says what is missing; to try this without such hardware, use a virtual "
    "machine whose firmware tells two speeds of memory (QEMU: -machine hmat=on -numa hmat-lb,...), "
    "or kloc's own machine: kloc compare WORKLOAD"
)

CPU_NAME = re.compile(r"^model name\s*:\s*(.*)$", re.M)
MEMORY = re.compile(r"^Node \d+ (MemTotal|MemFree):\s+(\d+) kB$", re.M)


def check() -> None:
    """Raise KlocError unless this is root on a server with two tiers of memory."""
    if os.geteuid() != 0:
        raise KlocError("only root may set policies", AS_ROOT)
    nodes = memory.read_nodes()
    if len(nodes) == 1:
        raise KlocError(
            f"all memory is on node {next(iter(nodes))}, so that there is nothing to tier",
            f"{HOW_TO_TRY}. numa=fake=2 makes two nodes of one tier, which is not enough",
        )
    if numa.read_fast_and_slow(system.ROOT) is None:
        raise KlocError(one_tier(len(numa.read_tiers(system.ROOT))).message, HOW_TO_TRY)


def tiers() -> dict[str, list[int]]:
    """Return the nodes of fast and of slow memory."""
    found = numa.read_fast_and_slow(system.ROOT)
    fast, slow = found or ([], [])
    return {memory.FAST: fast, memory.SLOW: slow}


def node_bytes() -> dict[str, dict[str, int]]:
    """Return the memory of each tier: all (`total`), and what is in use (`used`)."""
    found = {}
    for tier, nodes in tiers().items():
        total = used = 0
        for node in nodes:
            text = read(f"{numa.NODES.lstrip('/')}/node{node}/meminfo") or ""
            values = {name: int(kib) << 10 for name, kib in MEMORY.findall(text)}
            total += values.get("MemTotal", 0)
            used += values.get("MemTotal", 0) - values.get("MemFree", 0)
        found[tier] = {"total": total, "used": used}
    return found


def name() -> str:
    """Return the name of this server."""
    return socket.gethostname()


def describe() -> dict[str, Any]:
    """Return what figures of this server depend on, as docs/results.md has it ("native")."""
    model = CPU_NAME.search(read("proc/cpuinfo") or "")
    nodes = {}
    page = os.sysconf("SC_PAGE_SIZE")
    for number, node in memory.read_nodes().items():
        nodes[str(number)] = {
            "tier": node.tier,
            "bytes": sum(node.managed.values()) * page,
            "cpus": read(f"{numa.NODES.lstrip('/')}/node{number}/cpulist") or "",
            **_speed(number),
        }
    return {
        "host": name(),
        "architecture": platform.machine(),
        "cpu": model[1] if model else "",
        "cpus": os.cpu_count() or 1,
        "nodes": nodes,
        "tiers": numa.read_tiers(system.ROOT),
    }


def _speed(node: int) -> dict[str, float]:
    """Return the latency and bandwidth of a node as the firmware has them (HMAT, CDAT), if so."""
    speed = checks.read_speed(node)
    if speed is None:
        return {}
    # The sums of reads and writes; bandwidths are in MB/s, and those of machines in bytes per ns.
    return {"latency_ns": speed.latency / 2, "bandwidth": speed.bandwidth / 2000}
