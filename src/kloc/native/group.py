# SPDX-License-Identifier: GPL-2.0
"""The cgroup of a run's processes: their CPU time, and their memory in each tier."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from kloc.native.signals import heard
from kloc.server import contexts, system

NAME = "kloc-native"

KINDS = {
    "anon": ("anon",),
    "file": ("file",),
    "kernel": ("slab_reclaimable", "slab_unreclaimable", "kernel_stack", "pagetables"),
}
"""The kinds of memory that are told apart, and what of memory.numa_stat they have."""

NO_MEMORY = (
    "where the memory of the processes is was not counted: the memory controller is off; as root: "
    f"echo +memory > /{contexts.CGROUPS}/cgroup.subtree_control"
)
NO_GROUP = f"CPU time and memory were not counted: /{contexts.CGROUPS} is no hierarchy of cgroup v2"

GONE_SECONDS = 10.0
"""How long processes may take to end after they were killed."""

NODE = re.compile(r"N(\d+)=(\d+)")

Memory = dict[str, dict[str, int]]
"""Bytes by tier and kind."""


class Group:
    """A cgroup for the processes of a run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def make(cls) -> Group | None:
        """Return a new group, None without cgroup v2. One that a kill has left is used again."""
        root = system.path_of(f"/{contexts.CGROUPS}")
        if not (root / "cgroup.procs").exists():
            return None
        path = root / NAME
        path.mkdir(exist_ok=True)
        return cls(path)

    @property
    def processes(self) -> Path:
        """The file that a process enters the group by."""
        return self._path / "cgroup.procs"

    def cpu_ns(self) -> dict[str, int]:
        """Return the CPU time of all processes that are or were in the group, in ns."""
        text = (self._path / "cpu.stat").read_text()
        micros = dict(line.split(" ") for line in text.splitlines())
        return {mode: 1000 * int(micros.get(f"{mode}_usec", 0)) for mode in ("user", "system")}

    def memory(self, tiers: Mapping[str, Sequence[int]]) -> Memory | None:
        """Return the memory that belongs to the group; None without the memory controller."""
        path = self._path / "memory.numa_stat"
        if not path.exists():
            return None
        by_name: dict[str, Counter[int]] = {}
        for line in path.read_text().splitlines():
            name, _, nodes = line.partition(" ")
            by_name[name] = Counter({int(node): int(size) for node, size in NODE.findall(nodes)})
        return {
            tier: {
                kind: sum(by_name.get(name, Counter())[node] for name in names for node in nodes)
                for kind, names in KINDS.items()
            }
            for tier, nodes in tiers.items()
        }

    def close(self) -> None:
        """Kill all processes of the group, and remove it."""
        kill = self._path / "cgroup.kill"
        if kill.exists():
            kill.write_text("1")
        until = time.monotonic() + GONE_SECONDS
        while True:
            try:
                self._path.rmdir()
                return
            except OSError:
                if time.monotonic() > until:
                    raise
            with heard():
                time.sleep(0.02)
