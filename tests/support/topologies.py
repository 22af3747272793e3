# SPDX-License-Identifier: GPL-2.0
"""Machines with other nodes than a fast and a slow one, on which the kernel must work, too."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kloc.machine.topology import Node, Speed, Topology
from support import selftests

MIB = 1 << 20

HBM = Speed(80, 120)
DRAM = Speed(80, 30)
CXL = Speed(200, 18)

FAST = 240 * MIB
"""Bytes of a fast node. With the DMA zone, the next node starts at a whole block of memory."""

SLOW = 512 * MIB

BLOCK = 128 * MIB
"""Bytes of a block of memory, which goes online and offline as a whole."""

MAKE_MOVABLE = """
node=/sys/devices/system/node/node1
# The kernel tries to empty a block until it succeeds or gets a signal: a page that is pinned would
# keep it here for ever.
for block in $node/memory[0-9]*; do
    timeout 10 sh -c "echo offline >$block/state" || :
done 2>/dev/null
echo 1 >/proc/sys/vm/compact_memory
echo 10 >/proc/sys/vm/watermark_scale_factor
echo 1000 >$node/hugepages/hugepages-2048kB/nr_hugepages
for block in $node/memory[0-9]*; do
    echo online_movable >$block/state || :
done 2>/dev/null
"""
"""Shell commands that make blocks of node 1 movable.

Those that hold memory of the kernel cannot go offline. Huge pages take the rest of these.
"""


@dataclass(frozen=True)
class Machine:
    """A topology, and shell commands that its guest runs first."""

    topology: Topology
    setup: str = ""


MACHINES = {
    "two_slow": Machine(
        Topology(
            (
                Node(FAST, DRAM, cpus=2),
                Node(SLOW // 2, CXL, initiator=0),
                Node(SLOW // 2, CXL, initiator=0),
            ),
        )
    ),
    "three_tiers": Machine(
        Topology(
            (
                Node(FAST, DRAM, cpus=2),
                Node(FAST, HBM, initiator=0),
                Node(SLOW, CXL, initiator=0),
            ),
            distances={(0, 1): 15, (1, 2): 30},
        )
    ),
    "no_memory": Machine(
        Topology(
            (Node(FAST, DRAM, cpus=1), Node(cpus=1), Node(SLOW, CXL, initiator=0)),
            distances={(1, 2): 30},
        )
    ),
    # Nodes 0, 2 and 5.
    "gap": Machine(
        Topology(
            (
                Node(FAST, DRAM, cpus=1),
                Node(cpus=1, absent=True),
                Node(FAST, DRAM, cpus=1),
                Node(cpus=1, absent=True),
                Node(cpus=1, absent=True),
                Node(SLOW, CXL, initiator=0),
            ),
            parameters=("nr_cpus=2",),
        )
    ),
    "two_zones": Machine(
        Topology(
            (Node(3 * FAST, DRAM, cpus=2), Node(SLOW, CXL, initiator=0)),
            below_4g=192 * MIB,
        )
    ),
    # The kernel has memory in the first block of node 1, and in the last one, which is not whole.
    "movable": Machine(
        Topology((Node(FAST, DRAM, cpus=2), Node(SLOW + 24 * MIB, CXL, initiator=0))),
        MAKE_MOVABLE,
    ),
    "one_tier": Machine(
        Topology((Node(FAST, DRAM, cpus=1), Node(FAST, DRAM, cpus=1))),
    ),
}
"""Machines by the name of their shape, which selftests/topology/_topology.sh tells apart."""

NO_POLICY = {"/sys/kernel/mm/tiering/policy": "none"}
"""Settings that all machines take: one with a single tier takes no policy."""

ALL = ("shape", "policies")

SCRIPTS = {
    "two_slow": (*ALL, "two_slow", "tiering/place"),
    "three_tiers": (*ALL, "three_tiers", "tiering/cpuset", "tiering/place"),
    "no_memory": (*ALL, "no_memory", "tiering/cpuset", "tiering/place", "tiering/tables"),
    "gap": (*ALL, "two_fast", "tiering/cpuset", "tiering/place"),
    "two_zones": (*ALL, "two_zones", "tiering/place", "tiering/tables"),
    # Page tables have no place in ZONE_MOVABLE, with a policy or without.
    "movable": (*ALL, "movable", "tiering/place"),
    "one_tier": ("one_tier",),
}
"""The selftests that run on each machine; those of selftests/topology unless they say otherwise."""


def path(script: str) -> str:
    """Return the DIRECTORY/NAME of a selftest."""
    return f"{script}.sh" if "/" in script else f"{selftests.TOPOLOGY.name}/{script}.sh"


def setup(machine: str) -> str:
    """Return the shell commands that run before the selftests of a machine."""
    return f"export TOPOLOGY={machine}\n{MACHINES[machine].setup}"


def larger(topology: Topology, size: int) -> Topology:
    """Return a topology whose first node has `size` bytes more, a multiple of BLOCK."""
    first, *others = topology.nodes
    return replace(topology, nodes=(replace(first, memory=first.memory + size), *others))
