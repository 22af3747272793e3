# SPDX-License-Identifier: GPL-2.0
"""QEMU's arguments and the guest kernel's command line describe the machine and the job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kloc.machine.job import Job
from kloc.machine.memory import DMA_ZONE
from kloc.machine.parts import Parts
from kloc.machine.qemu import kernel_command_line, qemu_arguments

MEMORY = {"fast": "/fast", "slow": "/slow", "page": "/page"}
MIB = 1 << 20


@pytest.fixture
def arguments(tmp_path: Path, make_job: Callable[..., Job]) -> Callable[..., str]:
    """A function that returns QEMU's arguments for a job with the given changes.

    `initramfs` is that of the kernel.
    """
    image = tmp_path / "image"
    image.write_bytes(bytes(4096))

    def join(initramfs: Path | None = None, **changes: Any) -> str:
        kernel = SimpleNamespace(bzimage=Path("/bzImage"), initramfs=initramfs)
        parts = SimpleNamespace(plugin=Path("/model.so"), kernel=kernel)
        job = make_job(**changes)
        return " ".join(qemu_arguments(job, cast(Parts, parts), tmp_path, MEMORY, [image, image]))

    return join


def test_both_nodes_have_their_size_and_speed(arguments: Callable[..., str]) -> None:
    text = arguments()
    assert f"id=fast,share=on,mem-path=/fast,size={192 * MIB + DMA_ZONE}" in text
    assert f"id=slow,share=on,mem-path=/slow,size={1280 * MIB}" in text
    assert "target=1,hierarchy=memory,data-type=access-latency,latency=240" in text
    assert "target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=7500M" in text


def test_runs_are_deterministic(arguments: Callable[..., str]) -> None:
    text = arguments(seed=7)
    for option in (
        "-icount shift=0,sleep=off,rr=record",
        "-seed 7",
        "kloc.seed=7",
        "clock=vm",
        "-nic none",
    ):
        assert option in text


def test_writes_do_not_reach_disk_images(arguments: Callable[..., str]) -> None:
    assert arguments().count("share=off,readonly=on,rom=off") == 2


def test_measured_job_has_one_cpu_and_the_timing_model(
    arguments: Callable[..., str], tmp_path: Path
) -> None:
    text = arguments()
    assert "-smp 1" in text
    assert f"-plugin /model.so,config={tmp_path}/model.conf" in text


def test_without_the_timing_model_there_are_two_cpus_and_no_instruction_clock(
    arguments: Callable[..., str],
) -> None:
    text = arguments(modelled=False)
    assert "-smp 2" in text and "cpus=0-1" in text
    assert "-icount" not in text and "-plugin" not in text


def test_shell_has_the_terminal_as_its_console(
    arguments: Callable[..., str], tmp_path: Path
) -> None:
    text = arguments(shell=True)
    # While QEMU records, no input reaches the guest.
    assert "-icount shift=0" in text and "rr=record" not in text
    assert "-serial mon:stdio" in text and " quiet" in text
    assert f"file:{tmp_path}/console" not in text
    assert f"file:{tmp_path}/console" in arguments()


def test_kernel_gets_its_initramfs_if_it_has_one(arguments: Callable[..., str]) -> None:
    assert "-initrd" not in arguments()
    assert "-initrd /cache/initramfs" in arguments(initramfs=Path("/cache/initramfs"))


def test_kernel_may_not_use_the_dma_zone(make_job: Callable[..., Job]) -> None:
    assert "memmap=15M$1M" in kernel_command_line(make_job())


def test_driver_gets_the_speed_of_the_disk(make_job: Callable[..., Job]) -> None:
    options = kernel_command_line(make_job()).split()
    assert "kloc_machine.read_latency_ns=80000" in options
    assert "kloc_machine.write_bytes_per_us=1200" in options
