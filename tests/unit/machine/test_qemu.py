# SPDX-License-Identifier: GPL-2.0
"""QEMU's arguments and the guest kernel's command line describe the machine and the job."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from kloc.machine import profile
from kloc.machine.job import Job
from kloc.machine.memory import DMA_ZONE
from kloc.machine.parts import Parts
from kloc.machine.qemu import kernel_command_line, qemu_arguments

MEMORY = {"fast": "/fast", "slow": "/slow"}
MIB = 1 << 20


@pytest.fixture
def arguments(tmp_path: Path, make_job: Callable[..., Job]) -> Callable[..., str]:
    """A function that returns QEMU's arguments for a job with the given changes.

    `initramfs` is that of the kernel.
    """
    image = tmp_path / "image"
    image.write_bytes(bytes(4096))

    def join(initramfs: Path | None = None, **changes: Any) -> str:
        kernel = SimpleNamespace(image=Path("/vmlinux"), initramfs=initramfs)
        parts = SimpleNamespace(plugin=Path("/model.so"), kernel=kernel)
        job = make_job(**changes)
        return " ".join(qemu_arguments(job, cast(Parts, parts), tmp_path, MEMORY, [image, image]))

    return join


def test_both_nodes_have_their_size_and_speed(arguments: Callable[..., str]) -> None:
    text = arguments()
    assert f"id=node0,share=on,mem-path=/fast,size={192 * MIB + DMA_ZONE}" in text
    assert f"id=node1,share=on,mem-path=/slow,size={1280 * MIB}" in text
    assert "target=1,hierarchy=memory,data-type=access-latency,latency=240" in text
    assert "target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=30000M" in text


def test_a_job_without_the_model_has_the_cpus_that_it_asks_for(
    arguments: Callable[..., str],
) -> None:
    assert "-smp 2 " in arguments(modelled=False)
    assert "-smp 8 " in arguments(modelled=False, cpus=8)


def test_each_socket_has_cores_and_a_node_of_each_tier(
    arguments: Callable[..., str],
) -> None:
    text = arguments(profile=profile.read("four-node"))
    assert "-smp 6,sockets=2" in text
    for node, owner in enumerate(("cpus=0-2", "cpus=3-5", "initiator=0", "initiator=1")):
        assert f"node,nodeid={node},memdev=node{node},{owner}" in text
    # What is demoted goes to the slow memory of its own socket.
    for pair in ("src=0,dst=2,val=20", "src=0,dst=3,val=31", "src=1,dst=3,val=20"):
        assert f"dist,{pair}" in text


def test_each_socket_knows_the_speed_of_each_node(arguments: Callable[..., str]) -> None:
    found = re.findall(
        r"initiator=(\d),target=(\d),hierarchy=memory,data-type=access-latency,latency=(\d+)",
        arguments(profile=profile.read("four-node")),
    )
    speeds = {(int(socket), int(node)): int(ns) for socket, node, ns in found}
    assert speeds == {
        (0, 0): 80,
        (0, 1): 148,
        (0, 2): 305,
        (0, 3): 373,
        (1, 0): 148,
        (1, 1): 80,
        (1, 2): 373,
        (1, 3): 305,
    }
    narrow = profile.read("four-node")
    assert narrow.remote is not None
    narrow = replace(narrow, remote=replace(narrow.remote, bandwidth=20.0))
    text = arguments(profile=narrow)
    for node, bandwidth in ((0, 30000), (1, 20000), (2, 13200), (3, 13200)):
        assert (
            f"initiator=0,target={node},hierarchy=memory,data-type=access-bandwidth,"
            f"bandwidth={bandwidth}M" in text
        )


def test_runs_are_deterministic(arguments: Callable[..., str]) -> None:
    text = arguments(seed=7)
    for option in (
        "-icount shift=0,sleep=off,insn-ps=250,quantum-ns=2000",
        "thread=single,tb-size=512",
        "-seed 7",
        "kloc.seed=7",
        "clock=vm",
        "-nic none",
    ):
        assert option in text


def test_disks_take_the_guests_time_and_are_in_a_fixed_order(
    arguments: Callable[..., str], tmp_path: Path
) -> None:
    text = arguments()
    for number in (0, 1):
        node = f"driver=timed,node-name=disk{number},filename={tmp_path}/image"
        assert f"{node},read-latency-ns=80000,write-latency-ns=20000" in text
        assert f"virtio-blk-pci,drive=disk{number},addr={4 + number},ioeventfd=off" in text
    assert "read-bytes-per-us=1200,write-bytes-per-us=1200" in text


def test_only_the_disk_that_a_job_prepares_is_written(
    arguments: Callable[..., str], tmp_path: Path
) -> None:
    disk = tmp_path / "image"
    assert "shared" not in arguments(disk=disk, scripts={"measured": "true\n"})
    assert "shared=on" in arguments(disk=disk, scripts={"prepare": "true\n"})
    assert "shared" not in arguments(disk=tmp_path / "other", scripts={"prepare": "true\n"})


def test_measured_job_has_the_profiles_cores_and_the_timing_model(
    arguments: Callable[..., str], tmp_path: Path
) -> None:
    text = arguments()
    assert "-smp 5" in text and "cpus=0-4" in text
    assert "kloc_machine.model=1" in text
    assert f"-plugin /model.so,config={tmp_path}/model.conf" in text


def test_without_the_timing_model_there_are_two_cpus_in_the_hosts_time(
    arguments: Callable[..., str],
) -> None:
    text = arguments(modelled=False)
    assert "-smp 2" in text and "cpus=0-1" in text
    assert "-icount" not in text and "-plugin" not in text
    assert "kloc_machine" not in text


def test_shell_has_the_terminal_as_its_console(
    arguments: Callable[..., str], tmp_path: Path
) -> None:
    text = arguments(shell=True)
    assert "-icount shift=0" in text
    assert "-serial mon:stdio" in text and " quiet" in text
    assert f"file:{tmp_path}/console" not in text
    assert f"file:{tmp_path}/console" in arguments()


def test_kernel_gets_its_initramfs_if_it_has_one(arguments: Callable[..., str]) -> None:
    assert "-initrd" not in arguments()
    assert "-initrd /cache/initramfs" in arguments(initramfs=Path("/cache/initramfs"))


def test_kernel_may_not_use_the_dma_zone(make_job: Callable[..., Job]) -> None:
    assert "memmap=15M$1M" in kernel_command_line(make_job())
