# SPDX-License-Identifier: GPL-2.0
"""The commit of a checkout, and what differs from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base import checkout
from kloc.base.errors import KlocError
from support.repository import commit, repository


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout with a source file, a document and a test."""
    names = ("src/a.py", "docs/a.md", "docs/list.toml", "README.md", "tests/test_a.py")
    return repository(tmp_path / "project", dict.fromkeys(names, "one\n"))


def test_nothing_differs_from_the_commit_that_is_checked_out(project: Path) -> None:
    head = checkout.commit(project)
    assert len(head) == 40
    assert checkout.changed_since(project, head) == []


def test_changed_and_new_files_differ_but_documents_and_tests_do_not_count(project: Path) -> None:
    head = checkout.commit(project)
    for name in ("src/a.py", "docs/a.md", "docs/list.toml", "README.md", "tests/test_a.py"):
        (project / name).write_text("two\n")
    (project / "src/new.py").write_text("new\n")
    (project / "tests/test_new.py").write_text("new\n")
    assert checkout.changed_since(project, head) == ["src/a.py", "src/new.py"]


def test_later_commits_differ_only_in_their_files(project: Path) -> None:
    head = checkout.commit(project)
    (project / "README.md").write_text("two\n")
    commit(project)
    assert checkout.commit(project) != head
    assert checkout.changed_since(project, head) == []
    (project / "src/a.py").write_text("two\n")
    commit(project)
    assert checkout.changed_since(project, head) == ["src/a.py"]


def test_a_directory_without_history_is_explained(project: Path, tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=r"git rev-parse failed .*not a git repository") as found:
        checkout.commit(tmp_path)
    assert "clone" in (found.value.hint or "")
    with pytest.raises(KlocError, match="git diff failed"):
        checkout.changed_since(project, "0" * 40)


def test_a_host_without_git_is_explained(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(KlocError, match="no git"):
        checkout.commit(project)


def test_the_last_commit_that_changed_a_file_is_found(project: Path) -> None:
    first = checkout.changed_at(project, "src")
    (project / "docs/a.md").write_text("two\n")
    commit(project, time=first + 60)
    assert checkout.changed_at(project, "src") == first
    assert checkout.changed_at(project, "docs") == first + 60
    assert checkout.changed_at(project, "docs", ":(exclude)docs/a.md") == first
    assert checkout.changed_at(project) == first + 60
    with pytest.raises(KlocError, match=r"no commit .* has src/new\.py or lib"):
        checkout.changed_at(project, "src/new.py", "lib")


def test_changed_and_new_files_make_a_checkout_modified(project: Path) -> None:
    assert not checkout.is_modified(project)
    (project / "src/new.py").write_text("new\n")
    assert checkout.is_modified(project, "docs", "src")
    assert not checkout.is_modified(project, "docs")
    commit(project)
    (project / "src/a.py").unlink()
    assert checkout.is_modified(project)
