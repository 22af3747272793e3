# SPDX-License-Identifier: GPL-2.0
"""The disk images of the machine: the guest's, and those of jobs."""

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import guest_image
from kloc.build.root import Root
from kloc.machine import job_image


def debugfs(tools: Root, image: Path, request: str) -> str:
    """Return what debugfs prints about an ext4 image."""
    return tools.run(["debugfs", "-R", request, str(image)], binds=[image.parent])


def test_copies_keep_their_modes_and_other_files_have_git_s(tools: Root, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o751)
    (tmp_path / "directory").mkdir()
    (tmp_path / "directory" / "file").write_text("content")
    image = tmp_path / "job.img"
    files = {"/tmp/a/program": program, "/other": program, "/opt/directory": tmp_path / "directory"}
    job_image.pack(files, image, {"/tmp/a/program"})
    size = image.stat().st_size
    assert size & (size - 1) == 0
    assert "Mode:  0751" in debugfs(tools, image, "stat /tmp/a/program")
    assert "Mode:  0755" in debugfs(tools, image, "stat /other")
    assert debugfs(tools, image, "cat /opt/directory/file") == "content"
    assert "Mode:  0644" in debugfs(tools, image, "stat /opt/directory/file")


def test_link_given_by_name_becomes_its_target(tools: Root, tmp_path: Path) -> None:
    (tmp_path / "prog-1.2").write_text("content")
    link = tmp_path / "prog"
    link.symlink_to("prog-1.2")
    image = tmp_path / "job.img"
    job_image.pack({"/home/me/prog": link}, image)
    assert debugfs(tools, image, "cat /home/me/prog") == "content"


def test_image_of_a_job_is_the_same_each_time(tools: Root, tmp_path: Path) -> None:
    images = [tmp_path / "one.img", tmp_path / "two.img"]
    for image in images:
        job_image.pack({"/guest": guest_image.FILES}, image)
    assert images[0].read_bytes() == images[1].read_bytes()


def test_missing_file_of_a_job_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=str(tmp_path / "a")):
        job_image.pack({"/a": tmp_path / "a"}, tmp_path / "job.img")


def test_guest_has_its_packages_and_our_files(tools: Root) -> None:
    image = guest_image.guest_image()
    assert image.size_bytes & (image.size_bytes - 1) == 0
    assert image.versions["mawk"]
    assert "Type: regular" in debugfs(tools, image.path, "stat /usr/bin/numactl")
    assert "Mode:  0755" in debugfs(tools, image.path, "stat /kloc/init")


def test_guest_has_neither_name_nor_resolver_nor_mirror_of_the_host(tools: Root) -> None:
    listed = debugfs(tools, guest_image.guest_image().path, "ls -p /etc")
    assert "/passwd/" in listed
    assert "/hostname/" not in listed and "/resolv.conf/" not in listed
    assert "sources" not in debugfs(tools, guest_image.guest_image().path, "ls -p /etc/apt")


@pytest.mark.parametrize("name", ["no-such-package-at-all", "Bad Name", "--option"])
def test_package_that_debian_lacks_is_an_error(tools: Root, name: str) -> None:
    with pytest.raises(KlocError, match="Debian"):
        guest_image.guest_image([name])
