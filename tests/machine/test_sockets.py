# SPDX-License-Identifier: GPL-2.0
"""The machine with two sockets: what the kernel makes of its nodes, and where a job runs."""

from __future__ import annotations

import pytest

from kloc.machine import launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import prepare_parts

pytestmark = pytest.mark.machine

FOUR_NODE = profile.read("four-node")

SCRIPT = """
nodes=/sys/devices/system/node
echo tiers $(cat $(ls -d /sys/devices/virtual/memory_tiering/memory_tier[0-9]* | sort -V |
    sed 's,$,/nodelist,'))
for node in 0 1 2 3; do
    echo distance$node $(cat $nodes/node$node/distance)
    echo cpus$node $(cat $nodes/node$node/cpulist)
    echo initiators$node $(ls $nodes/node$node/access0/initiators | grep -o 'node.*')
    echo latency$node $(cat $nodes/node$node/access0/initiators/read_latency)
done
echo job $(cat /sys/fs/cgroup/job/cpuset.cpus.effective)
"""


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What the kernel's files say, by name."""
    job = Job("sockets", FOUR_NODE, {"measured": SCRIPT})
    raw = launcher.run(job, prepare_parts(()))
    assert "remote_misses" in raw.model
    lines = raw.frames["measured"].splitlines()
    return {name: value for name, _, value in (line.partition(" ") for line in lines)}


def test_each_socket_has_a_node_in_each_tier(printed: dict[str, str]) -> None:
    """The latencies of the other socket in the HMAT do not make tiers of their own."""
    assert printed["tiers"] == "0-1 2-3"


def test_nodes_are_as_far_as_sockets_and_tiers(printed: dict[str, str]) -> None:
    distances = [printed[f"distance{node}"] for node in range(4)]
    assert distances == ["10 21 20 31", "21 10 31 20", "20 31 10 31", "31 20 31 10"]


def test_the_nearest_socket_gives_a_nodes_latency(printed: dict[str, str]) -> None:
    assert [printed[f"latency{node}"] for node in range(4)] == ["80", "80", "305", "305"]
    assert [printed[f"initiators{node}"] for node in range(4)] == ["node0", "node1"] * 2


def test_cores_and_spare_cores_are_divided(printed: dict[str, str]) -> None:
    assert [printed[f"cpus{node}"] for node in range(4)] == ["0-2", "3-5", "", ""]
    assert printed["job"] == "0-1,3-4"
