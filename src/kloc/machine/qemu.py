# SPDX-License-Identifier: GPL-2.0
"""QEMU's arguments and the guest kernel's command line for a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

from kloc.machine.job import Job, cpu_count
from kloc.machine.memory import DMA_ZONE, TIERS, Range, memory_ranges
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile, Storage

TRANSLATION_MIB = 512
"""Size of QEMU's buffer for translated code; its default depends on the host's memory."""

SINGLE_THREAD = ("-accel", f"tcg,thread=single,tb-size={TRANSLATION_MIB}")

CPU = "Nehalem,+rdrand"
"""The CPU. RDRAND follows -seed. A kernel without it burns seconds to make random numbers."""

ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4"}
"""Variables of QEMU's environment.

QEMU computes the x87 instructions FSIN, FCOS, FSINCOS and FPTAN with libm's sin, cos and tan, whose
last bit depends on whether the host's CPU has FMA. libm does not use it then.
"""

FIRST_DISK = 4
"""PCI device number of the first disk. The guest names disks in this order: vda, vdb, vdc."""


def clock_arguments(insn_ps: int, quantum_ns: int) -> list[str]:
    """Return QEMU's arguments for a time of each CPU: `insn_ps` for an instruction, and stalls."""
    return [
        *SINGLE_THREAD,
        *("-icount", f"shift=0,sleep=off,insn-ps={insn_ps},quantum-ns={quantum_ns}"),
    ]


def hardware_arguments(
    profile: Profile, memory: Mapping[str, str], cpus: int, seed: int
) -> list[str]:
    """Return QEMU's arguments for CPUs, memory and devices that every machine has.

    `memory` maps fast and slow to the files that back them.
    """
    total = sum(node.size for node in memory_ranges(profile))
    return [
        *("-machine", "pc,hmat=on", "-cpu", CPU),
        *("-smp", f"{cpus},sockets={profile.sockets}" if profile.sockets > 1 else str(cpus)),
        *("-m", str(total >> 20)),
        *device_arguments(seed),
        *_numa_arguments(profile, memory, cpus),
    ]


def device_arguments(seed: int) -> list[str]:
    """Return the arguments for the seed, the clock, and no device that nobody asks for."""
    return [
        *("-seed", str(seed)),
        *("-rtc", "base=2024-01-01,clock=vm", "-nic", "none"),
        *("-nodefaults", "-display", "none", "-no-reboot"),
    ]


def disk_arguments(number: int, image: Path, storage: Storage, kept: bool) -> list[str]:
    """Return QEMU's arguments for a disk. `kept`: the guest's writes reach the image."""
    figures = {
        "read-latency-ns": storage.read_latency_us * 1000,
        "write-latency-ns": storage.write_latency_us * 1000,
        "read-bytes-per-us": storage.read_bandwidth * 1000,
        "write-bytes-per-us": storage.write_bandwidth * 1000,
    }
    options = ",".join(f"{key}={value:.0f}" for key, value in figures.items())
    options += ",shared=on" if kept else ""
    node = f"disk{number}"
    # Without ioeventfd a request begins when the guest makes it, and not when the host's main
    # loop gets to it.
    device = f"virtio-blk-pci,drive={node},addr={FIRST_DISK + number},ioeventfd=off"
    return [
        *("-blockdev", f"driver=timed,node-name={node},filename={image},{options}"),
        *("-device", device),
    ]


def qemu_arguments(
    job: Job, parts: Parts, directory: Path, memory: Mapping[str, str], images: Sequence[Path]
) -> list[str]:
    """Return QEMU's arguments for a run in `directory`.

    `memory` maps fast and slow to the files that back them. `images` are the disk images, in the
    order of the guest's disks.
    """
    if job.modelled:
        insn_ps = round(job.profile.cpu.ns_per_instruction * 1000)
        argv = clock_arguments(insn_ps, round(job.profile.quantum_us * 1000))
    else:
        argv = ["-accel", "tcg,thread=multi"]
    if job.topology is None:
        argv += hardware_arguments(job.profile, memory, cpu_count(job), job.seed)
    else:
        argv += [*job.topology.hardware_arguments(CPU), *device_arguments(job.seed)]
    for number, image in enumerate(images):
        kept = job.prepares and image == job.disk
        argv += disk_arguments(number, image, job.profile.storage, kept)
    if job.modelled:
        argv += ["-plugin", f"{parts.plugin},config={directory / 'model.conf'}"]
    argv += ["-kernel", str(parts.kernel.image), "-append", kernel_command_line(job)]
    if parts.kernel.initramfs is not None:
        argv += ["-initrd", str(parts.kernel.initramfs)]
    if job.shell:
        argv += ["-serial", "mon:stdio"]
    else:
        argv += ["-monitor", "none", "-serial", f"file:{directory / 'console'}"]
    return [*argv, "-serial", f"file:{directory / 'agent'}"]


def kernel_command_line(job: Job) -> str:
    """Return the guest kernel's command line."""
    return " ".join(
        (
            "console=ttyS0 root=/dev/vda ro rootfstype=ext4 rootflags=noload init=/kloc/init",
            f"memmap={(DMA_ZONE >> 20) - 1}M$1M",
            "random.trust_cpu=on",
            # The timing model reads the kernel's memory at addresses that these options fix.
            "nokaslr nopti mitigations=off",
            # QEMU's clock is simulated time, and the TSC is that clock.
            "tsc=reliable no_timer_check",
            # The kind of a slab page is its cache's name, so caches must not be merged.
            "slab_nomerge",
            "panic=-1 oops=panic softlockup_panic=1 hung_task_panic=1",
            # The kernel tells the timing model what its pages are for.
            *(["kloc_machine.model=1"] if job.modelled else []),
            # Mixed into the kernel's random numbers, and so into address space layouts.
            f"kloc.seed={job.seed}",
            *(["quiet"] if job.shell else []),
            *(job.topology.parameters if job.topology else ()),
            *job.parameters,
        )
    )


def _numa_arguments(profile: Profile, memory: Mapping[str, str], cpus: int) -> list[str]:
    """Return QEMU's arguments for the nodes and an HMAT of their speeds. Only fast ones have CPUs.

    Without the HMAT, the kernel would put all nodes in one tier and demote nothing. It has the
    speed of each node for each socket; the kernel makes tiers from that of the nearest one.
    """
    sockets = profile.sockets
    argv = []
    for node, memory_range in enumerate(memory_ranges(profile)):
        argv += _node_arguments(node, memory_range, memory, _cpus_of(node, sockets, cpus))
    for node, other in combinations(range(2 * sockets), 2):
        argv += ["-numa", f"dist,src={node},dst={other},val={_distance(node, other, sockets)}"]
    for node, socket in product(range(2 * sockets), range(sockets)):
        tier = (profile.fast, profile.slow)[node // sockets]
        latency, bandwidth = tier.read_latency_ns, tier.read_bandwidth
        if node % sockets != socket and profile.remote is not None:
            latency += profile.remote.latency_ns
            bandwidth = min(bandwidth, profile.remote.bandwidth)
        lb = f"hmat-lb,initiator={socket},target={node},hierarchy=memory"
        argv += ["-numa", f"{lb},data-type=access-latency,latency={latency:.0f}"]
        argv += ["-numa", f"{lb},data-type=access-bandwidth,bandwidth={bandwidth * 1000:.0f}M"]
    return argv


def _node_arguments(
    node: int, memory_range: Range, memory: Mapping[str, str], cpus_or_initiator: str
) -> list[str]:
    name = TIERS[memory_range.tier]
    backend = f"memory-backend-file,id=node{node},share=on,mem-path={memory[name]}"
    backend += f",size={memory_range.size}"
    # Not for 0: the option is no part of a run's inputs until it is needed.
    backend += f",offset={memory_range.offset}" if memory_range.offset else ""
    return [
        *("-object", backend),
        *("-numa", f"node,nodeid={node},memdev=node{node},{cpus_or_initiator}"),
    ]


def _cpus_of(node: int, sockets: int, cpus: int) -> str:
    """Return the option that says which CPUs a node has, or whose the node is."""
    if node >= sockets:
        return f"initiator={node - sockets}"
    first, end = (cpus * socket // sockets for socket in (node, node + 1))
    return f"cpus={first}-{end - 1}"


def _distance(node: int, other: int, sockets: int) -> int:
    """Return the distance of two nodes: slow memory is 10 farther than fast memory, as is a socket.

    The kernel demotes to the nearest slow node.
    """
    is_slow = other >= sockets
    is_remote = node % sockets != other % sockets
    return 10 + 10 * is_slow + (11 if is_remote else 0)
