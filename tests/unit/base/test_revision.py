# SPDX-License-Identifier: GPL-2.0
"""The commit of kloc's own checkout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kloc import __version__
from kloc.base import paths, revision

NAME = ["-c", "user.name=kloc", "-c", "user.email=kloc@localhost"]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of kloc's, with one commit."""
    monkeypatch.setattr(revision, "PROJECT", tmp_path)
    (tmp_path / "kloc").write_text("1")
    for command in (["init", "-q"], ["add", "kloc"], [*NAME, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def commit() -> str:
    """Return the commit as of now: `revision.commit` keeps that of its first call."""
    return revision.commit.__wrapped__()


@pytest.mark.usefixtures("checkout")
def test_commit_is_the_one_that_is_checked_out() -> None:
    assert re.fullmatch(r"[0-9a-f]{12}", commit())


def test_a_changed_file_makes_the_checkout_modified(checkout: Path) -> None:
    before = commit()
    (checkout / "kloc").write_text("22")
    assert commit() == f"{before}, modified"


def test_a_result_in_the_checkout_does_not_make_it_modified(checkout: Path) -> None:
    before = commit()
    (checkout / "result.json").write_text("{}")
    assert commit() == before


def test_a_tag_names_the_commit(checkout: Path) -> None:
    tag = [*NAME, "tag", "-a", "-m", "release", "v1"]
    subprocess.run(["git", "-C", str(checkout), *tag], check=True)
    assert commit() == "v1"


def test_commit_is_unknown_without_git(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert commit() == "unknown"


def test_commit_of_a_copy_inside_another_checkout_is_unknown(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "copy").mkdir()
    monkeypatch.setattr(revision, "PROJECT", checkout / "copy")
    assert commit() == "unknown"


def test_package_has_the_commit_that_it_was_built_from(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revision, "PROJECT", checkout / "site-packages")
    monkeypatch.setattr(paths, "PACKAGE", checkout / "kloc-package")
    assert commit() == "unknown"
    file = checkout / "kloc-package" / "data" / revision.FILE
    file.parent.mkdir(parents=True)
    file.write_text("0123456789ab\n")
    assert commit() == "0123456789ab"


def test_a_debian_package_has_a_version_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert revision.version() == __version__
    monkeypatch.setattr(paths, "PACKAGE", tmp_path)
    assert revision.version() == __version__
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / revision.VERSION_FILE).write_text("0.1+git20261130.062254.c7d58bc\n")
    assert revision.version() == "0.1+git20261130.062254.c7d58bc"
