# SPDX-License-Identifier: GPL-2.0
"""The ./kloc script on hosts without Python: what it installs, and what it says otherwise."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT

TOOLS = ("cut", "dirname", "flock", "id", "mkdir", "readlink", "sha256sum")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A directory for $PATH with a few tools and no Python."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for tool in TOOLS:
        (directory / tool).symlink_to(shutil.which(tool) or pytest.fail(tool))
    return directory


def start(path: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", PROJECT / "kloc", *argv],
        env={"PATH": str(path), "HOME": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_system_without_apt_is_told_the_requirement(path: Path) -> None:
    done = start(path, "doctor")
    assert done.returncode == 1
    assert "Python 3.11" in done.stderr


def test_nothing_is_installed_without_a_terminal(path: Path) -> None:
    (path / "apt-get").symlink_to("/bin/false")
    done = start(path, "doctor")
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_apt_that_fails_is_an_error(path: Path) -> None:
    (path / "apt-get").symlink_to("/bin/false")
    (path / "sudo").symlink_to("/usr/bin/env")
    done = start(path, "doctor", "--yes")
    assert done.returncode == 1
    assert "python3-venv" in done.stderr
