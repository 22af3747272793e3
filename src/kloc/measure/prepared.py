# SPDX-License-Identifier: GPL-2.0
"""Prepares what a workload has on its disk before a run: once, in the machine, for all runs.

The disk follows from the script and from the parts of the machine, never from the policy or the
host. So it is no result, and is kept in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from kloc.base import cache, progress
from kloc.build import kernel
from kloc.build.ext4 import make_empty_ext4
from kloc.machine import launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import Parts
from kloc.machine.profile import Storage
from kloc.measure import policy
from kloc.measure.task import Task
from kloc.measure.workload import Size, Workload

FORMAT = "prepared-1"
"""Part of the cache key: change it when disks are made differently, so that old ones go unused."""

POLICY = "stock"
"""The policy under which disks are prepared."""

IMAGE = "data.img"


def with_disks(tasks: Sequence[Task], parts: Mapping[str, Parts]) -> list[Task]:
    """Return the tasks with their disks, preparing those that are not in the cache.

    `parts` are those of each workload's machine, by the workload's name. Raises KlocError if a
    preparation fails.
    """
    return [
        replace(
            task,
            disk=disk(
                task.workload, task.size, task.seed, task.profile.storage, parts[task.workload.name]
            ),
        )
        for task in tasks
    ]


def disk(workload: Workload, size: Size, seed: int, storage: Storage, parts: Parts) -> Path | None:
    """Return the image of what a workload has prepared on its disk, None if that is nothing.

    It is the same for each kernel, and for all machines that have this storage.
    """
    if workload.prepare is None:
        return None
    own = replace(parts, kernel=kernel.build())
    tiered = structs.replace(profile.load(profile.DEFAULT), storage=storage)
    job = Job(
        name=f"{workload.name}-disk",
        profile=tiered,
        scripts={"prepare": workload.prepare(size, seed)},
        settings=policy.load(POLICY).settings(workload.name, tiered),
        packages=workload.packages,
        instructions=workload.instructions * size.load,
    )

    def make(draft: Path) -> None:
        image = draft / IMAGE
        make_empty_ext4(own.root, image, storage.capacity)
        with progress.shown(f"preparing the disk of {workload.name}", job.instructions) as bar:
            launcher.run(
                replace(job, disk=image), own, lambda machine: bar.update(machine.instructions)
            )

    return cache.build("prepared", _key(job, own), make) / IMAGE


def _key(job: Job, parts: Parts) -> str:
    made_by = (parts.kernel.image, parts.plugin, parts.image.path, *parts.programs)
    return cache.key(
        *(FORMAT, job.scripts["prepare"], str(job.profile.storage), parts.qemu.key),
        *(path.parent.name for path in made_by),
    )
