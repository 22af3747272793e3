# SPDX-License-Identifier: GPL-2.0
"""The disk images of the machine."""

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import guest_image
from kloc.build.root import Root
from kloc.machine import job_image


def in_image(tools: Root, image: Path, request: str) -> str:
    return tools.run(["debugfs", "-R", request, str(image)], binds=[image.parent])


def test_a_job_s_files_keep_their_modes(tools: Root, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o751)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("content")
    image = tmp_path / "job.img"
    job_image.job_image({"/tmp/a/program": program, "/opt/folder": tmp_path / "folder"}, image)
    size = image.stat().st_size
    assert size & (size - 1) == 0
    assert "Mode:  0751" in in_image(tools, image, "stat /tmp/a/program")
    assert in_image(tools, image, "cat /opt/folder/file") == "content"


def test_a_link_that_is_named_is_what_it_points_to(tools: Root, tmp_path: Path) -> None:
    (tmp_path / "prog-1.2").write_text("content")
    link = tmp_path / "prog"
    link.symlink_to("prog-1.2")
    image = tmp_path / "job.img"
    job_image.job_image({"/home/me/prog": link}, image)
    assert in_image(tools, image, "cat /home/me/prog") == "content"


def test_a_job_s_image_is_the_same_each_time(tools: Root, tmp_path: Path) -> None:
    images = [tmp_path / "one.img", tmp_path / "two.img"]
    for image in images:
        job_image.job_image({"/guest": guest_image.FILES}, image)
    assert images[0].read_bytes() == images[1].read_bytes()


def test_a_job_s_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="there is no"):
        job_image.job_image({"/a": tmp_path / "a"}, tmp_path / "job.img")


def test_a_guest_has_its_packages_and_our_files(tools: Root) -> None:
    image = guest_image.guest_image()
    assert image.size_bytes & (image.size_bytes - 1) == 0
    assert image.versions["mawk"]
    assert "Type: regular" in in_image(tools, image.path, "stat /usr/bin/numactl")
    assert "Mode:  0755" in in_image(tools, image.path, "stat /kloc/init")


@pytest.mark.parametrize("name", ["no-such-package-at-all", "Bad Name", "--option"])
def test_a_package_that_is_not_there(tools: Root, name: str) -> None:
    with pytest.raises(KlocError, match="Debian"):
        guest_image.guest_image([name])
