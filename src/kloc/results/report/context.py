# SPDX-License-Identifier: GPL-2.0
"""The sections on what a document's figures depend on: the machine and the versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kloc.base import revision
from kloc.base.sizes import exact_size
from kloc.base.words import plural
from kloc.results.report.figure import Table
from kloc.results.report.structure import Block, Section
from kloc.results.versions import commits


def machine(document: Mapping[str, Any]) -> Section | None:
    """Return the section on the document's machine profile; None if it has none."""
    profile = document.get("machine") or {}
    if not profile:
        return None
    tiers = [(name, profile[name]) for name in ("fast", "slow") if name in profile]
    memory = Table(
        [
            "memory",
            "capacity",
            "latency",
            "read bandwidth",
            "write bandwidth",
            "access unit",
        ],
        [
            [
                name,
                exact_size(tier.get("capacity", 0)),
                f"{tier.get('read_latency_ns', 0):g} ns",
                *(f"{tier.get(f'{way}_bandwidth', 0):g} GB/s" for way in ("read", "write")),
                f"{tier.get('unit', 0)} B",
            ]
            for name, tier in tiers
        ],
    )
    cpu, storage = profile.get("cpu", {}), profile.get("storage", {})
    parts = [["core", f"{cpu.get('ns_per_instruction', 0):g} ns per instruction without misses"]]
    for label, cache in (("L1 cache", "l1"), ("last-level cache", "llc")):
        capacity, ways = exact_size(cpu.get(cache, 0)), cpu.get(f"{cache}_ways", 0)
        parts.append([label, f"{capacity}, {ways} ways"])
    under_way = f"{cpu.get('outstanding', 0):g} lines, {cpu.get('window', 0):g} instructions"
    parts.append(["under way at once, of a core", under_way])
    for way in ("read", "write"):
        latency = f"{storage.get(f'{way}_latency_us', 0):g} µs"
        bandwidth = f"{storage.get(f'{way}_bandwidth', 0):g} GB/s"
        parts.append([f"storage, {way}", f"{latency}, {bandwidth}"])
    cores = f"{profile.get('cores', 1)}, and {profile.get('spare_cores', 0)} for kernel threads"
    parts.append(["cores", cores])
    if remote := profile.get("remote"):
        sockets = f"{profile.get('sockets', 1)}, with half of the cores and memory each"
        parts.append(["sockets", sockets])
        latency = f"{remote.get('latency_ns', 0):g} ns more"
        bandwidth = f"{remote.get('bandwidth', 0):g} GB/s each way"
        parts.append(["memory of the other socket", f"{latency}, {bandwidth}"])
    parts.append(["capacities are divided by", f"{profile.get('scale', 1):g}"])
    intro = f"{profile.get('name', '')}: {profile.get('summary', '')}"
    blocks = [Block(tables=[memory]), Block(tables=[Table(["part", "figure"], parts, names=2)])]
    return Section("machine", "The machine", intro, blocks)


def versions(document: Mapping[str, Any]) -> Section | None:
    """Return the section on the document's versions; None if it has none."""
    values = document.get("versions") or {}
    kernel = document.get("kernel") or {}
    rows = [[f"kernel, {name}", str(value)] for name, value in kernel.items()]
    rows += [[name, str(value)] for name, value in values.items() if not isinstance(value, Mapping)]
    programs = values.get("programs") or {}
    rows += [[f"program {name}", str(value)] for name, value in programs.items()]
    if not rows:
        return None
    rows = [*_commits(document), *rows]
    blocks = [Block(tables=[Table(["", "version"], rows, names=2)])]
    if guest := values.get("guest"):
        packages = [[name, str(value)] for name, value in sorted(guest.items())]
        blocks.append(
            Block(
                f"{plural(len(packages), 'package')} in the machine",
                tables=[Table(["package", "version"], packages, names=2)],
                folded=True,
            )
        )
    intro = "With these versions, every host gives the same figures."
    return Section("versions", "Versions", intro, blocks)


def _commits(document: Mapping[str, Any]) -> list[list[str]]:
    """Return rows with the commits of kloc that measured the document, and what each measured."""
    if "runs" not in document:
        return [["kloc, commit", document.get("kloc", revision.UNKNOWN)]]
    found = commits(document["runs"])
    if len(found) == 1:
        return [["kloc, commit", commit] for commit in found]
    return [[f"kloc, commit for {', '.join(names)}", commit] for commit, names in found.items()]
