# SPDX-License-Identifier: GPL-2.0
"""The hashes of everything that a run is made from. Equal inputs give equal figures.

Paths of the host are replaced by names, so that two hosts have the same hashes. Options that do not
change the figures (`--follow`, frames for the oracle) are left out. The libraries of QEMU are not
hashed: they are in the versions of a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kloc.base import hashes
from kloc.machine.job import Job
from kloc.machine.memory import FAST_FRAMES, PROGRESS, TIERS
from kloc.machine.model_config import model_config
from kloc.machine.parts import Parts
from kloc.machine.qemu import ENVIRONMENT, qemu_arguments

FIRMWARE = Path("usr/share/seabios/bios-256k.bin"), Path("usr/share/qemu/kvmvapic.bin")
"""The firmware that QEMU loads into every machine, relative to the tool root."""

LOADER_OF_ELF = Path("usr/share/qemu/pvh.bin")
LOADER_OF_BZIMAGE = Path("usr/share/qemu/linuxboot_dma.bin")
"""The option ROMs that boot the kernel: kloc's own is an ELF file, others are bzImages."""

OF_THE_JOB = ("job_disk", "prepared_disk", "fast_frames", "model", "command_line")
"""The inputs that depend on policy, seed and size, and not on the workload alone."""

DIRECTORY = Path("run")
"""Stands for the directory of a run."""


def of_run(job: Job, parts: Parts, job_disk: Path, data_disk: Path) -> dict[str, str]:
    """Return the hash of each input of a run by its name (docs/results.md lists them).

    `job_disk` is the image that write_job_image made for the job. `data_disk` is the job's own, or
    the empty one.
    """
    plain = replace(job, follow=False, frames=False)
    names = (*TIERS, PROGRESS, *(() if job.fast_frames is None else (FAST_FRAMES,)))
    memory = {name: name for name in names}
    found = {
        **_files(job, parts, job_disk, data_disk),
        "model": hashes.of_text(model_config(plain, DIRECTORY, memory)),
        "command_line": hashes.of_text("\n".join(_command_line(plain, parts, memory))),
    }
    if job.fast_frames is not None:
        found["fast_frames"] = hashes.of_bytes(job.fast_frames)
    return found


def _files(job: Job, parts: Parts, job_disk: Path, data_disk: Path) -> dict[str, str]:
    loader = LOADER_OF_ELF if parts.kernel.initramfs is None else LOADER_OF_BZIMAGE
    paths = {
        "kernel": parts.kernel.image,
        "guest_disk": parts.image.path,
        "job_disk": job_disk,
        "data_disk" if job.disk is None else "prepared_disk": data_disk,
        "qemu": parts.qemu.program,
        "plugin": parts.plugin,
        **{f"firmware_{rom.stem}": parts.root.path / rom for rom in (*FIRMWARE, loader)},
    }
    if parts.kernel.initramfs is not None:
        paths["initramfs"] = parts.kernel.initramfs
    return {name: hashes.of_file(path) for name, path in paths.items()}


def _command_line(job: Job, parts: Parts, memory: Mapping[str, str]) -> list[str]:
    """Return QEMU's environment and arguments, with names for the paths of the host."""
    images = [Path("guest_disk"), Path("job_disk"), Path("data_disk")]
    names = {parts.kernel.image: "kernel", parts.plugin: "plugin"}
    if parts.kernel.initramfs is not None:
        names[parts.kernel.initramfs] = "initramfs"
    argv = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
    argv += qemu_arguments(job, parts, DIRECTORY, memory, images)
    for path, name in names.items():
        argv = [argument.replace(str(path), name) for argument in argv]
    return argv
