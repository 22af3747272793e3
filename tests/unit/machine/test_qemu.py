# SPDX-License-Identifier: GPL-2.0
"""What QEMU, the guest's kernel and the timing model are told of a profile and a job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kloc.machine import guest_console, launcher, model_config, profile, qemu
from kloc.machine.job import Job
from kloc.machine.launcher import RunFailed
from kloc.machine.memory import DMA_ZONE
from kloc.machine.parts import Parts
from kloc.measure import policy, task, workload

MEMORY = {"fast": "/fast", "slow": "/slow", "page": "/page"}
MIB = 1 << 20


def job(**changes: Any) -> Job:
    return replace(Job("w", profile.load("tiered"), {}), **changes)


def arguments(tmp_path: Path, **changes: Any) -> str:
    image = tmp_path / "image"
    image.write_bytes(bytes(4096))
    parts = SimpleNamespace(
        plugin=Path("/model.so"), kernel=SimpleNamespace(bzimage=Path("/bzImage"))
    )
    argv = qemu.qemu_arguments(job(**changes), cast(Parts, parts), tmp_path, MEMORY, [image, image])
    return " ".join(argv)


def test_both_nodes_have_their_size_and_their_speed(tmp_path: Path) -> None:
    text = arguments(tmp_path)
    assert f"id=fast,share=on,mem-path=/fast,size={192 * MIB + DMA_ZONE}" in text
    assert f"id=slow,share=on,mem-path=/slow,size={1280 * MIB}" in text
    assert "target=1,hierarchy=memory,data-type=access-latency,latency=240" in text
    assert "target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=7500M" in text


def test_nothing_is_left_to_chance(tmp_path: Path) -> None:
    text = arguments(tmp_path, seed=7)
    for word in (
        "-icount shift=0,sleep=off,rr=record",
        "-seed 7",
        "kloc.seed=7",
        "clock=vm",
        "-nic none",
    ):
        assert word in text


def test_disks_are_private_copies(tmp_path: Path) -> None:
    assert arguments(tmp_path).count("share=off,readonly=on,rom=off") == 2


def test_the_model_is_told_the_ranges_without_gaps() -> None:
    text = model_config.model_config(job(timing="slow"), Path("/run"), MEMORY)
    split = 192 * MIB + DMA_ZONE
    assert f"ram=0,0,{split},/fast,0\n" in text
    assert f"ram=1,{split},{1280 * MIB},/slow,0\n" in text
    assert "tier=slow,240.0,240.0,0.9375,0.9375,64\n" in text
    assert "force_tier=slow\n" in text


def test_a_run_that_is_followed_leaves_what_it_has_come_to(tmp_path: Path) -> None:
    assert "live=" not in model_config.model_config(job(), tmp_path, MEMORY)
    told = model_config.model_config(job(follow=True), tmp_path, MEMORY)
    (path,) = re.findall("^live=(.*)$", told, re.M)
    parts = cast(Parts, None)
    followed = launcher.Machine(job(follow=True), parts, tmp_path)
    assert followed.live() is None
    Path(path).write_text('{"promoted": 3}')
    assert followed.live() == {"promoted": 3}


def test_the_kernel_may_not_use_the_dma_zone() -> None:
    assert "memmap=15M$1M" in qemu.kernel_command_line(job())


def test_a_computed_policy_runs_what_it_is_computed_from() -> None:
    host, what = profile.load("tiered"), workload.load("redis")
    todo = task.tasks([what], [policy.load("oracle")], host, [1, 2], workload.FULL)
    assert [(task.policy.name, task.seed, task.frames) for task in todo] == [
        ("all-slow", 1, True),
        ("all-slow", 2, True),
    ]
    todo = task.tasks([what], [policy.load("tpp")], host, [1], workload.FULL)
    assert [(task.policy.name, task.frames) for task in todo] == [("tpp", False)]


def test_without_the_model_there_are_two_cpus_and_no_instruction_clock(tmp_path: Path) -> None:
    text = arguments(tmp_path, modelled=False)
    assert "-smp 2" in text and "cpus=0-1" in text
    assert "-icount" not in text and "-plugin" not in text
    assert "-smp 1" in arguments(tmp_path)


def test_what_is_told_of_a_crash_begins_with_it() -> None:
    before = [f"[ 1.{number:03}] booting" for number in range(40)]
    crash = ["[ 2.000] Oops: general protection fault", "[ 2.001] RIP: somewhere"]
    after = [f"[ 3.{number:03}]  ? some_function" for number in range(40)]
    assert (
        guest_console.excerpt("\n".join(before)).splitlines()
        == before[-guest_console.CONSOLE_TAIL :]
    )
    told = guest_console.excerpt("\n".join([*before, *crash, *after])).splitlines()
    assert told[:2] == crash and len(told) == guest_console.CONSOLE_TAIL
    assert guest_console.excerpt("") == ""


def ended_shell(folder: Path, status: int, **frames: str) -> launcher.Machine:
    """Return the machine of a shell whose QEMU ended with `status`; its agent sent `frames`."""
    sent = [f"@kloc {name} {len(text)}\n{text}\n" for name, text in frames.items()]
    (folder / "agent").write_text("".join(sent))
    shell = launcher.Machine(job(name="shell", shell=True), cast(Parts, None), folder)
    shell._process = cast(Any, SimpleNamespace(poll=lambda: status))
    return shell


def test_a_shell_that_ends_is_no_failure(tmp_path: Path) -> None:
    assert ended_shell(tmp_path, 0, stage="boot", done="ended").step() is not None
    # Whoever stops QEMU from its terminal meant it.
    assert ended_shell(tmp_path, 0, stage="boot").step() is not None


@pytest.mark.parametrize(
    ("status", "frames", "reason"),
    [
        (0, {"failed": "the kernel has no /x", "done": "failed"}, "the kernel has no /x"),
        (1, {}, "QEMU ended (status 1)"),
        (-9, {"stage": "boot"}, "QEMU ended (status -9)"),
    ],
)
def test_a_shell_that_could_not_be_is_told(
    status: int, frames: Mapping[str, str], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(RunFailed) as failed:
        ended_shell(tmp_path, status, **frames).step()
    assert failed.value.message == f"shell: {reason}"
    assert f"{tmp_path}/command" in (failed.value.hint or "")
