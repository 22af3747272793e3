# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kloc.machine.job import Job, cpus
from kloc.machine.memory import DMA_ZONE, PAGE_BYTES, TIERS, memory_ranges
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile

# The guest's clock counts its instructions, 1 ns each. QEMU records, to nowhere, as a precaution:
# its main loop and the guest then take turns, so that it cannot see that the guest idles before the
# instructions until then are counted. Whether it is needed is not known.
EXACT = (
    *("-accel", "tcg,thread=single"),
    *("-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null"),
)


def hardware(profile: Profile, memory: Mapping[str, str], cpus: int, seed: int) -> list[str]:
    """Return QEMU's arguments for cores and memory; `memory` maps fast and slow to files."""
    total = sum(size for _, _, size in memory_ranges(profile))
    return [
        *("-machine", "pc,hmat=on", "-cpu", "Nehalem", "-smp", str(cpus)),
        *("-m", str(total >> 20), "-seed", str(seed)),
        *("-rtc", "base=2024-01-01,clock=vm", "-nic", "none"),
        *("-nodefaults", "-display", "none", "-no-reboot"),
        *numa_arguments(profile, memory, cpus),
    ]


def qemu_arguments(
    job: Job, parts: Parts, folder: Path, memory: Mapping[str, str], images: Sequence[Path]
) -> list[str]:
    """Return QEMU's arguments; `memory` maps fast, slow and page to the files that back them."""
    argv = [*EXACT] if job.modelled else ["-accel", "tcg,thread=multi"]
    argv += hardware(job.profile, memory, cpus(job), job.seed)
    argv += [
        "-object",
        f"memory-backend-file,id=page,share=on,mem-path={memory['page']},size={PAGE_BYTES}",
    ]
    argv += ["-device", "ivshmem-plain,memdev=page,addr=4"]
    for number, image in enumerate(images):
        # Private: what the guest writes is gone with the run. The size of a PCI
        # memory region is a power of two, and so are the images'.
        backend = f"memory-backend-file,id=disk{number},share=off,readonly=on,rom=off"
        argv += ["-object", f"{backend},mem-path={image},size={image.stat().st_size}"]
        argv += ["-device", f"ivshmem-plain,memdev=disk{number},addr={5 + number}"]
    if job.modelled:
        argv += ["-plugin", f"{parts.plugin},config={folder / 'model.conf'}"]
    argv += ["-kernel", str(parts.kernel.bzimage), "-append", kernel_command_line(job)]
    if job.shell:
        argv += ["-serial", "mon:stdio"]
    else:
        argv += ["-monitor", "none", "-serial", f"file:{folder / 'console'}"]
    return [*argv, "-serial", f"file:{folder / 'agent'}"]


def kernel_command_line(job: Job) -> str:
    """Return the guest kernel's command line."""
    storage = job.profile.storage
    return " ".join(
        (
            "console=ttyS0 root=/dev/klocdisk0 ro rootfstype=ext4 rootflags=noload init=/kloc/init",
            f"memmap={(DMA_ZONE >> 20) - 1}M$1M",
            # The model reads the kernel's memory where these leave it.
            "nokaslr nopti mitigations=off",
            "tsc=reliable no_timer_check",
            # A slab page is known by its cache's name: no cache serves another's objects.
            "slab_nomerge",
            "panic=-1 panic_on_oops=1 softlockup_panic=1 hung_task_panic=1",
            f"kloc_machine.read_latency_ns={storage.read_latency_us * 1000:.0f}",
            f"kloc_machine.write_latency_ns={storage.write_latency_us * 1000:.0f}",
            f"kloc_machine.read_bytes_per_us={storage.read_bandwidth * 1000:.0f}",
            f"kloc_machine.write_bytes_per_us={storage.write_bandwidth * 1000:.0f}",
            # Mixed into the kernel's random numbers, and so into address layouts.
            f"kloc.seed={job.seed}",
            *(["quiet"] if job.shell else []),
        )
    )


def numa_arguments(profile: Profile, memory: Mapping[str, str], cpus: int) -> list[str]:
    """Two nodes, the second without a core, and an HMAT that tells their speeds.

    Without the HMAT both nodes would be one tier, and nothing would be demoted.
    """
    argv = []
    for node, _, size in memory_ranges(profile):
        name = TIERS[node]
        backend = f"memory-backend-file,id={name},share=on,mem-path={memory[name]},size={size}"
        place = f"cpus=0-{cpus - 1}" if node == 0 else "initiator=0"
        argv += ["-object", backend, "-numa", f"node,nodeid={node},memdev={name},{place}"]
    argv += ["-numa", "dist,src=0,dst=1,val=20"]
    for node, tier in enumerate((profile.fast, profile.slow)):
        lb = f"hmat-lb,initiator=0,target={node},hierarchy=memory"
        argv += ["-numa", f"{lb},data-type=access-latency,latency={tier.read_latency_ns:.0f}"]
        argv += [
            "-numa",
            f"{lb},data-type=access-bandwidth,bandwidth={tier.read_bandwidth * 1000:.0f}M",
        ]
    return argv
