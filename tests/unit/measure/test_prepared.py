# SPDX-License-Identifier: GPL-2.0
"""Prepared disks: once for each script and storage, whatever the policy and the kernel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import structs

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.machine.job import Job
from kloc.machine.parts import Parts
from kloc.measure import policy, prepared, task, workload
from kloc.measure.task import Task
from kloc.measure.workload import Outcome, Size, Workload


def prepare(size: Size, seed: int) -> str:
    return f"load {size.load}\n"


FILLED = Workload(
    name="filled",
    summary="a workload with a disk",
    packages=(),
    setup=lambda *_: "true\n",
    measured=lambda *_: "true\n",
    check=None,
    outcome=lambda *_: Outcome(1, None),
    prepare=prepare,
)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> list[Job]:
    """Let jobs write their scripts to their disks; the list has the jobs that ran."""
    ran: list[Job] = []

    def run(job: Job, *_: Any) -> None:
        ran.append(job)
        assert job.disk is not None
        if job.scripts["prepare"] == "load 0.25\n":
            raise KlocError("no space left")
        job.disk.write_text(job.scripts["prepare"])

    monkeypatch.setattr(prepared.launcher, "run", run)
    monkeypatch.setattr(prepared, "make_empty_ext4", lambda _, path, __: path.touch())
    kernel = SimpleNamespace(image=Path("/own/vmlinux"))
    monkeypatch.setattr(prepared.kernel, "build", lambda: kernel)
    return ran


def parts(kernel: str = "own") -> dict[str, Parts]:
    """Return the parts of the workload's machine, with the kernel in that folder."""
    machine = Parts(
        root=cast(Any, None),
        qemu=cast(Any, SimpleNamespace(key="qemu")),
        kernel=cast(Any, SimpleNamespace(image=Path(f"/{kernel}/vmlinux"))),
        plugin=Path("/plugin/model.so"),
        image=cast(Any, SimpleNamespace(path=Path("/image/root.img"))),
    )
    return {"filled": machine}


def tasks(*policies: str, machine: str = "tiered", size: Size = workload.FULL) -> list[Task]:
    chosen = [policy.load(name) for name in policies]
    return task.tasks([FILLED], chosen, profile.read(machine), [1, 2], size)


def test_all_policies_and_seeds_have_the_same_disk(jobs: list[Job]) -> None:
    ready = prepared.with_disks(tasks("tpp", "kloc"), parts())
    assert len({each.disk for each in ready}) == len(jobs) == 1
    assert ready[0].disk is not None and ready[0].disk.read_text() == "load 1.0\n"
    assert [each.policy.name for each in ready] == ["tpp", "kloc", "tpp", "kloc"]
    assert jobs[0].prepares and jobs[0].modelled


def test_disk_is_that_of_our_kernel_and_made_once_for_all_machines_with_its_storage(
    jobs: list[Job],
) -> None:
    (first, _) = prepared.with_disks(tasks("tpp"), parts())
    (again, _) = prepared.with_disks(tasks("tpp"), parts("foreign"))
    larger = structs.replace(profile.read("tiered"), cores=8)
    (other,) = prepared.with_disks([replace(first, profile=larger)], parts())
    assert first.disk == again.disk == other.disk and len(jobs) == 1
    slower = structs.replace(larger.storage, read_latency_us=1)
    slow = structs.replace(larger, storage=slower)
    (another,) = prepared.with_disks([replace(first, profile=slow)], parts())
    assert another.disk != first.disk and len(jobs) == 2


def test_workload_that_prepares_nothing_has_no_disk(jobs: list[Job]) -> None:
    plain = [replace(each, workload=replace(FILLED, prepare=None)) for each in tasks("tpp")]
    assert prepared.with_disks(plain, parts()) == plain
    assert not jobs


def test_preparation_that_fails_leaves_no_disk(jobs: list[Job]) -> None:
    quick = tasks("tpp", size=workload.QUICK)
    for _ in range(2):
        with pytest.raises(KlocError, match="no space left"):
            prepared.with_disks(quick, parts())
    assert len(jobs) == 2
