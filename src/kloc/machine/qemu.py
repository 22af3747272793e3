# SPDX-License-Identifier: GPL-2.0
"""QEMU's arguments and the guest kernel's command line for a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kloc.machine.job import Job, cpu_count
from kloc.machine.memory import DMA_ZONE, PAGE_BYTES, TIERS, memory_ranges
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile

INSTRUCTION_CLOCK = (
    *("-accel", "tcg,thread=single"),
    *("-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null"),
)
"""Arguments that make the guest's clock count its instructions, 1 ns each.

rr=record writes to /dev/null. It is a precaution: with it, QEMU's main loop and the guest take
turns, so the main loop cannot see that the guest is idle before the instructions up to that point
are counted. We do not know whether it is necessary.
"""

SHELL_CLOCK = (*("-accel", "tcg,thread=single"), *("-icount", "shift=0,sleep=off"))
"""The same for a shell. While QEMU records, no input from the terminal reaches the guest."""


def hardware_arguments(
    profile: Profile, memory: Mapping[str, str], cpus: int, seed: int
) -> list[str]:
    """Return QEMU's arguments for CPUs, memory and devices that every machine has.

    `memory` maps fast and slow to the files that back them.
    """
    total = sum(size for _, _, size in memory_ranges(profile))
    return [
        *("-machine", "pc,hmat=on", "-cpu", "Nehalem", "-smp", str(cpus)),
        *("-m", str(total >> 20), "-seed", str(seed)),
        *("-rtc", "base=2024-01-01,clock=vm", "-nic", "none"),
        *("-nodefaults", "-display", "none", "-no-reboot"),
        *_numa_arguments(profile, memory, cpus),
    ]


def qemu_arguments(
    job: Job, parts: Parts, directory: Path, memory: Mapping[str, str], images: Sequence[Path]
) -> list[str]:
    """Return QEMU's arguments for a run in `directory`.

    `memory` maps fast, slow and page to the files that back them. `images` are the disk images, in
    the order of the guest's disks. Each has a size that is a power of two.
    """
    clock = SHELL_CLOCK if job.shell else INSTRUCTION_CLOCK
    argv = [*clock] if job.modelled else ["-accel", "tcg,thread=multi"]
    argv += hardware_arguments(job.profile, memory, cpu_count(job), job.seed)
    argv += [
        "-object",
        f"memory-backend-file,id=page,share=on,mem-path={memory['page']},size={PAGE_BYTES}",
    ]
    argv += ["-device", "ivshmem-plain,memdev=page,addr=4"]
    for number, image in enumerate(images):
        # Private, so that the guest's writes do not reach the image. The disk is a PCI memory
        # region, whose size must be a power of two.
        backend = f"memory-backend-file,id=disk{number},share=off,readonly=on,rom=off"
        argv += ["-object", f"{backend},mem-path={image},size={image.stat().st_size}"]
        argv += ["-device", f"ivshmem-plain,memdev=disk{number},addr={5 + number}"]
    if job.modelled:
        argv += ["-plugin", f"{parts.plugin},config={directory / 'model.conf'}"]
    argv += ["-kernel", str(parts.kernel.bzimage), "-append", kernel_command_line(job)]
    if parts.kernel.initramfs is not None:
        argv += ["-initrd", str(parts.kernel.initramfs)]
    if job.shell:
        argv += ["-serial", "mon:stdio"]
    else:
        argv += ["-monitor", "none", "-serial", f"file:{directory / 'console'}"]
    return [*argv, "-serial", f"file:{directory / 'agent'}"]


def kernel_command_line(job: Job) -> str:
    """Return the guest kernel's command line."""
    storage = job.profile.storage
    return " ".join(
        (
            "console=ttyS0 root=/dev/klocdisk0 ro rootfstype=ext4 rootflags=noload init=/kloc/init",
            f"memmap={(DMA_ZONE >> 20) - 1}M$1M",
            # The timing model reads the kernel's memory at addresses that these options fix.
            "nokaslr nopti mitigations=off",
            "tsc=reliable no_timer_check",
            # The kind of a slab page is its cache's name, so caches must not be merged.
            "slab_nomerge",
            "panic=-1 panic_on_oops=1 softlockup_panic=1 hung_task_panic=1",
            f"kloc_machine.read_latency_ns={storage.read_latency_us * 1000:.0f}",
            f"kloc_machine.write_latency_ns={storage.write_latency_us * 1000:.0f}",
            f"kloc_machine.read_bytes_per_us={storage.read_bandwidth * 1000:.0f}",
            f"kloc_machine.write_bytes_per_us={storage.write_bandwidth * 1000:.0f}",
            # Mixed into the kernel's random numbers, and so into address space layouts.
            f"kloc.seed={job.seed}",
            *(["quiet"] if job.shell else []),
        )
    )


def _numa_arguments(profile: Profile, memory: Mapping[str, str], cpus: int) -> list[str]:
    """Return QEMU's arguments for two nodes, the second without CPUs, and an HMAT of their speeds.

    Without the HMAT, the kernel would put both nodes in one tier and demote nothing.
    """
    argv = []
    for node, _, size in memory_ranges(profile):
        name = TIERS[node]
        backend = f"memory-backend-file,id={name},share=on,mem-path={memory[name]},size={size}"
        cpus_or_initiator = f"cpus=0-{cpus - 1}" if node == 0 else "initiator=0"
        argv += [
            "-object",
            backend,
            "-numa",
            f"node,nodeid={node},memdev={name},{cpus_or_initiator}",
        ]
    argv += ["-numa", "dist,src=0,dst=1,val=20"]
    for node, tier in enumerate((profile.fast, profile.slow)):
        lb = f"hmat-lb,initiator=0,target={node},hierarchy=memory"
        argv += ["-numa", f"{lb},data-type=access-latency,latency={tier.read_latency_ns:.0f}"]
        argv += [
            "-numa",
            f"{lb},data-type=access-bandwidth,bandwidth={tier.read_bandwidth * 1000:.0f}M",
        ]
    return argv
