# SPDX-License-Identifier: GPL-2.0
"""The inputs of a run: every file that it is made from counts, and no path of the host does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kloc.machine import inputs
from kloc.machine.job import Job
from kloc.machine.parts import Parts

FILES = {
    "kernel": "vmlinux",
    "guest_disk": "root.img",
    "job_disk": "job.img",
    "data_disk": "data.img",
    "qemu": "qemu",
    "plugin": "model.so",
    "firmware_bios-256k": "root/usr/share/seabios/bios-256k.bin",
    "firmware_kvmvapic": "root/usr/share/qemu/kvmvapic.bin",
    "firmware_pvh": "root/usr/share/qemu/pvh.bin",
}
"""The inputs that are files, with their paths in a host's directory."""


class Host:
    """The files of a run in `directory`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        for name in (*FILES.values(), "initramfs", "root/usr/share/qemu/linuxboot_dma.bin"):
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(path.name)

    def inputs(self, job: Job, foreign: bool = False) -> dict[str, str]:
        initramfs = self.directory / "initramfs" if foreign else None
        parts = SimpleNamespace(
            root=SimpleNamespace(path=self.directory / "root"),
            qemu=SimpleNamespace(program=self.directory / "qemu"),
            kernel=SimpleNamespace(image=self.directory / "vmlinux", initramfs=initramfs),
            plugin=self.directory / "model.so",
            image=SimpleNamespace(path=self.directory / "root.img"),
        )
        images = self.directory / "job.img", self.directory / "data.img"
        return inputs.of_run(job, cast(Parts, parts), *images)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "host")


def test_two_hosts_have_the_same_inputs(
    host: Host, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    other = Host(tmp_path / "another" / "host")
    for foreign in (False, True):
        job = make_job(fast_frames=b"1")
        assert host.inputs(job, foreign) == other.inputs(job, foreign)


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_an_input(name: str, host: Host, make_job: Callable[..., Job]) -> None:
    before = host.inputs(make_job())
    (host.directory / FILES[name]).write_text("something else")
    after = host.inputs(make_job())
    assert {one for one in before if before[one] != after[one]} == {name}


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ({"seed": 2}, {"command_line"}),
        ({"timing": "slow"}, {"model"}),
        ({"follow": True}, set()),
        ({"frames": True}, set()),
    ],
)
def test_model_and_command_line_change_with_what_changes_the_figures(
    changes: dict[str, Any], changed: set[str], host: Host, make_job: Callable[..., Job]
) -> None:
    before, after = host.inputs(make_job()), host.inputs(make_job(**changes))
    assert {name for name in before if before[name] != after[name]} == changed


def test_frames_of_the_oracle_are_an_input(host: Host, make_job: Callable[..., Job]) -> None:
    one, other = (host.inputs(make_job(fast_frames=frames)) for frames in (b"01", b"10"))
    assert {name for name in one if one[name] != other[name]} == {"fast_frames"}


def test_a_prepared_disk_replaces_the_empty_one(host: Host, make_job: Callable[..., Job]) -> None:
    found = host.inputs(make_job(disk=host.directory / "data.img"))
    assert "prepared_disk" in found and "data_disk" not in found


def test_another_kernel_has_its_initramfs_and_loader(
    host: Host, make_job: Callable[..., Job]
) -> None:
    own, foreign = (host.inputs(make_job(), foreign) for foreign in (False, True))
    assert foreign.keys() - own.keys() == {"initramfs", "firmware_linuxboot_dma"}
    assert own.keys() - foreign.keys() == {"firmware_pvh"}
