# SPDX-License-Identifier: GPL-2.0
"""A topology has the nodes of a job's machine, in place of the profile's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kloc.machine.job import Job, cpu_count
from kloc.machine.parts import Parts
from kloc.machine.qemu import kernel_command_line, qemu_arguments
from kloc.machine.topology import Node, Speed, Topology

MIB = 1 << 20
DRAM, CXL = Speed(80, 30), Speed(200, 7.5)
TWO_SLOW = Topology(
    (
        Node(240 * MIB, DRAM, cpus=2),
        Node(128 * MIB, CXL, initiator=0),
        Node(256 * MIB, CXL, initiator=0),
    ),
    distances={(1, 2): 30},
    parameters=("nr_cpus=2",),
)
GAPS = Topology(
    (
        Node(240 * MIB, DRAM, cpus=1),
        Node(cpus=1, absent=True),
        Node(128 * MIB, DRAM, cpus=1),
        Node(256 * MIB, CXL, initiator=0),
    )
)


def arguments(topology: Topology) -> str:
    return " ".join(topology.hardware_arguments("Some,+feature"))


def test_nodes_have_their_memory_cpus_and_speed() -> None:
    text = arguments(TWO_SLOW)
    # The first one has the DMA zone in addition.
    assert f"memory-backend-ram,id=node0,size={256 * MIB} -numa node,nodeid=0,memdev=node0," in text
    assert "nodeid=0,memdev=node0,cpus=0-1" in text
    assert "nodeid=2,memdev=node2,initiator=0" in text
    assert "-m 640 " in text
    assert "initiator=0,target=0,hierarchy=memory,data-type=access-latency,latency=80" in text
    assert "initiator=0,target=2,hierarchy=memory,data-type=access-bandwidth" in text
    assert "bandwidth=7500M" in text
    assert "-smp 2,sockets=1 " in text


def test_distances_are_20_unless_given() -> None:
    text = arguments(TWO_SLOW)
    for pair in ("src=0,dst=1,val=20", "src=0,dst=2,val=20", "src=1,dst=2,val=30"):
        assert f"dist,{pair}" in text


def test_a_node_may_have_cpus_and_no_memory() -> None:
    nodes = (Node(cpus=2), Node(128 * MIB, DRAM, cpus=2))
    text = arguments(Topology(nodes))
    assert "-numa node,nodeid=0,cpus=0-1 " in text
    assert f"id=node1,size={144 * MIB}" in text
    assert "target=0" not in text


def test_absent_nodes_have_cpus_that_are_not_plugged_in() -> None:
    text = arguments(GAPS)
    assert "-smp 1,sockets=3,maxcpus=3 " in text
    assert "nodeid=1,cpus=1-1" in text and "nodeid=2,memdev=node2,cpus=2-2" in text
    assert "-device Some-x86_64-cpu,socket-id=2,core-id=0,thread-id=0" in text
    assert "socket-id=1" not in text
    assert GAPS.cpus == 2


def test_memory_may_be_above_4_gib() -> None:
    split = Topology((Node(512 * MIB, DRAM, cpus=2),), below_4g=256 * MIB)
    assert "-machine pc,hmat=on,max-ram-below-4g=256M " in arguments(split)
    assert "-machine pc,hmat=on " in arguments(TWO_SLOW)


def test_job_has_the_nodes_of_its_topology_alone(
    tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    job = make_job(topology=TWO_SLOW, modelled=False, seed=7)
    kernel = SimpleNamespace(image=Path("/vmlinux"), initramfs=None)
    parts = cast(Parts, SimpleNamespace(kernel=kernel))
    text = " ".join(qemu_arguments(job, parts, tmp_path, {}, []))
    assert "memory-backend-file" not in text
    assert text.count("-numa node,") == 3
    assert "-seed 7 " in text and "-no-reboot" in text
    assert " nr_cpus=2" in kernel_command_line(job)
    assert cpu_count(job) == 2


def test_the_timing_model_knows_profiles_only(make_job: Callable[..., Job]) -> None:
    with pytest.raises(ValueError, match="profiles only"):
        make_job(topology=TWO_SLOW)
