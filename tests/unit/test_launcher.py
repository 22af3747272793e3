# SPDX-License-Identifier: GPL-2.0
"""The launcher on hosts that lack something."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT

TOOLS = ("cut", "dirname", "flock", "id", "mkdir", "readlink", "sha256sum")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A PATH of little more than a shell, without Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool) or pytest.fail(tool))
    return folder


def launch(path: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", PROJECT / "kloc", *argv],
        env={"PATH": str(path), "HOME": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_no_python_and_not_debian(path: Path) -> None:
    done = launch(path, "doctor")
    assert done.returncode == 1
    assert "kloc needs Python 3.11" in done.stderr


def test_no_python_and_nobody_to_ask(path: Path) -> None:
    (path / "apt-get").symlink_to("/bin/false")
    done = launch(path, "doctor")
    assert done.returncode == 1
    assert "say --yes" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_apt_that_fails(path: Path) -> None:
    (path / "apt-get").symlink_to("/bin/false")
    (path / "sudo").symlink_to("/usr/bin/env")
    done = launch(path, "doctor", "--yes")
    assert done.returncode == 1
    assert "could not install" in done.stderr
