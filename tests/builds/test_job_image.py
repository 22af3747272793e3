# SPDX-License-Identifier: GPL-2.0
"""mke2fs makes the same image of a job under any umask, at any path and time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from kloc.base import hashes
from kloc.build import root
from kloc.machine import profile
from kloc.machine.job import Job
from kloc.machine.job_image import write_job_image
from kloc.machine.parts import Parts

PARTS = cast(Parts, SimpleNamespace(programs=(), kernel=SimpleNamespace(initramfs=None)))


def test_an_image_has_nothing_of_the_host(tools: root.Root, tmp_path: Path) -> None:
    job = Job("w", profile.load(profile.DEFAULT), {"measured": "true\n"}, commands=True)
    found = set()
    for path, umask in (("here", 0o022), ("elsewhere/longer", 0o077)):
        directory = tmp_path / path
        before = os.umask(umask)
        directory.mkdir(parents=True)
        write_job_image(job, PARTS, directory / "job.img")
        os.umask(before)
        found.add(hashes.of_file(directory / "job.img"))
        # ext4 has times in seconds.
        time.sleep(1.1)
    assert len(found) == 1
