# SPDX-License-Identifier: GPL-2.0
"""Machines whose nodes are not those of a profile, for jobs without the timing model.

A profile has one fast and one slow node in each socket, which the timing model knows. The kernel
must also work where servers differ: with more tiers, with nodes that lack memory or CPUs, with gaps
in the node numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from kloc.machine.memory import DMA_ZONE

DISTANCE = 20
"""The distance of two nodes for which a topology has none."""


@dataclass(frozen=True)
class Speed:
    """Memory's latency in ns, and its bandwidth in bytes per ns (GB/s)."""

    latency_ns: int
    bandwidth: float


@dataclass(frozen=True)
class Node:
    """A NUMA node: bytes and speed of its memory, and its CPUs.

    `speed` is what the CPUs of the node `initiator` see; None: those of the node itself. A node
    without memory has none. The CPUs of an `absent` node could be plugged in. The kernel gives such
    a node a number, and does not bring it online if `nr_cpus` has it ignore these CPUs.
    """

    memory: int = 0
    speed: Speed | None = None
    cpus: int = 0
    initiator: int | None = None
    absent: bool = False


@dataclass(frozen=True)
class Topology:
    """The nodes of a machine. Those that have CPUs must come first: so the kernel numbers them.

    All nodes that have CPUs have the same number of them, and are a socket each. `distances` are
    between two nodes, the lower number first; others are 20. `below_4g` are the bytes of memory
    below 4 GiB, None for all. `parameters` are for the guest's kernel.
    """

    nodes: tuple[Node, ...]
    distances: Mapping[tuple[int, int], int] = field(default_factory=dict)
    below_4g: int | None = None
    parameters: tuple[str, ...] = ()

    @property
    def cpus(self) -> int:
        """How many CPUs are present."""
        return sum(node.cpus for node in self.nodes if not node.absent)

    def hardware_arguments(self, model: str) -> list[str]:
        """Return QEMU's arguments for the board, the CPUs of `model`, and the nodes."""
        board = "pc,hmat=on"
        if self.below_4g is not None:
            board += f",max-ram-below-4g={self.below_4g >> 20}M"
        sizes = self._sizes()
        argv = ["-machine", board, "-cpu", model]
        argv += self._cpu_arguments(model)
        argv += ["-m", str(sum(sizes) >> 20)]
        first = 0
        for number, (node, size) in enumerate(zip(self.nodes, sizes, strict=True)):
            options = f"node,nodeid={number}"
            if size:
                backend = f"memory-backend-ram,id=node{number},size={size}"
                argv += ["-object", backend]
                options += f",memdev=node{number}"
            if node.cpus:
                options += f",cpus={first}-{first + node.cpus - 1}"
                first += node.cpus
            if node.initiator is not None:
                options += f",initiator={node.initiator}"
            argv += ["-numa", options]
        return argv + self._distance_arguments() + self._speed_arguments()

    def _sizes(self) -> list[int]:
        """Return the bytes of each node. The first one with memory has the DMA zone, too."""
        sizes = [node.memory for node in self.nodes]
        first = next(number for number, size in enumerate(sizes) if size)
        sizes[first] += DMA_ZONE
        return sizes

    def _cpu_arguments(self, model: str) -> list[str]:
        """Return the arguments for the CPUs. -smp makes those of the first socket present."""
        sockets = [node for node in self.nodes if node.cpus]
        cores = sockets[0].cpus
        if not any(node.absent for node in sockets):
            return ["-smp", f"{self.cpus},sockets={len(sockets)}"]
        argv = ["-smp", f"{cores},sockets={len(sockets)},maxcpus={len(sockets) * cores}"]
        device = f"{model.split(',')[0]}-x86_64-cpu"
        for number, node in enumerate(sockets):
            if number == 0 or node.absent:
                continue
            for core in range(cores):
                place = f"socket-id={number},core-id={core},thread-id=0"
                argv += ["-device", f"{device},{place}"]
        return argv

    def _distance_arguments(self) -> list[str]:
        argv = []
        for pair in combinations(range(len(self.nodes)), 2):
            distance = self.distances.get(pair, DISTANCE)
            argv += ["-numa", f"dist,src={pair[0]},dst={pair[1]},val={distance}"]
        return argv

    def _speed_arguments(self) -> list[str]:
        """Return the arguments for an HMAT: without one, all nodes would be in one tier."""
        argv = []
        for number, node in enumerate(self.nodes):
            if node.speed is None:
                continue
            initiator = number if node.initiator is None else node.initiator
            lb = f"hmat-lb,initiator={initiator},target={number},hierarchy=memory"
            latency = f"data-type=access-latency,latency={node.speed.latency_ns}"
            bandwidth = f"data-type=access-bandwidth,bandwidth={node.speed.bandwidth * 1000:.0f}M"
            argv += ["-numa", f"{lb},{latency}", "-numa", f"{lb},{bandwidth}"]
        return argv
