# SPDX-License-Identifier: GPL-2.0
"""The version of the Debian package kloc: dpkg orders packages by the time of their commits."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kloc import __version__
from kloc.base import checkout, paths
from kloc.base.errors import KlocError
from kloc.build import deb
from support.repository import commit, repository

MORNING = int(datetime(2026, 11, 30, 9, 5, 7, tzinfo=UTC).timestamp())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose commit was made at MORNING."""
    content = dict.fromkeys(("src/a.py", "packaging/debian/control", "tests/test_a.py"), "one\n")
    directory = repository(tmp_path / "project", content)
    monkeypatch.setattr(paths, "PROJECT", directory)
    (directory / "src/a.py").write_text("two\n")
    commit(directory, MORNING)
    return directory


def test_version_has_the_time_and_the_hash_of_the_commit(project: Path) -> None:
    head = checkout.commit(project)[:7]
    assert deb.version() == f"{__version__}+git20261130.090507.{head}"


def test_versions_sort_by_time(project: Path) -> None:
    if shutil.which("dpkg") is None:
        pytest.skip("there is no dpkg")
    versions = [__version__, deb.version()]
    (project / "src/a.py").write_text("three\n")
    versions.append(deb.version())
    for later in (60, 3600, 24 * 3600):
        (project / "src/a.py").write_text(f"{later}\n")
        commit(project, MORNING + later)
        versions.append(deb.version())
    for older, newer in itertools.pairwise(versions):
        subprocess.run(["dpkg", "--compare-versions", older, "lt", newer], check=True)


def test_only_changes_of_packaged_files_count_as_modified(project: Path) -> None:
    (project / "tests/test_a.py").write_text("two\n")
    assert "modified" not in deb.version()
    (project / "src/new.py").write_text("new\n")
    assert "+modified20" in deb.version()


def test_changelog_has_the_version_and_the_time_of_the_commit(
    project: Path, tmp_path: Path
) -> None:
    deb.copy_sources(tmp_path / "tree")
    changelog = (tmp_path / "tree/debian/changelog").read_text()
    assert changelog.startswith(f"kloc ({deb.version()}) unstable; ")
    assert changelog.endswith(">  Mon, 30 Nov 2026 09:05:07 +0000\n")


def test_without_git_the_package_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "PROJECT", tmp_path)
    with pytest.raises(KlocError, match="git cannot list the files") as refused:
        deb.copy_sources(tmp_path / "tree")
    assert "in a clone" in str(refused.value.hint)
