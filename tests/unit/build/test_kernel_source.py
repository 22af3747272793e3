# SPDX-License-Identifier: GPL-2.0
"""The kernel's work tree, when the disk is full and afterwards."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, cast

import pytest

from kloc.base.errors import KlocError
from kloc.build import kernel_source
from kloc.build.root import Root
from support import made_up_overlay

NO_TOOLS = cast(Root, None)
"""No test here runs a program in the root."""


@pytest.fixture
def overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel/ with one new file and no patches."""
    directory = made_up_overlay.overlay(tmp_path)
    monkeypatch.setattr(kernel_source, "KERNEL", directory)
    return directory


@pytest.fixture
def linux(tmp_path: Path) -> Path:
    source = tmp_path / "linux" / "source"
    (source / "mm").mkdir(parents=True)
    (source / "mm" / "old.c").write_text("old\n")
    return source


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files be created and truncated, but not written."""

    def write_text(path: Path, *_: Any, **__: Any) -> int:
        path.open("w").close()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_text)


def test_tree_is_usable_after_the_disk_was_full(
    monkeypatch: pytest.MonkeyPatch, overlay: Path, linux: Path
) -> None:
    tree = kernel_source.WorkTree(NO_TOOLS, linux)
    tree.update()
    with monkeypatch.context() as full:
        fill_the_disk(full)
        with pytest.raises(KlocError, match="No space"):
            tree.update()
    (overlay / "files" / "mm" / "new.c").unlink()
    again = kernel_source.WorkTree(NO_TOOLS, linux)
    again.update()
    assert not (again.source / "mm" / "new.c").exists()


@pytest.mark.parametrize("text", ["", '["mm/ne', "\0\0"])
def test_tree_whose_list_is_unreadable_is_made_from_scratch(
    text: str, overlay: Path, linux: Path
) -> None:
    tree = kernel_source.WorkTree(NO_TOOLS, linux)
    tree.update()
    (tree.source / "mm" / "left.c").touch()
    (tree.directory / "changed.json").write_text(text)
    again = kernel_source.WorkTree(NO_TOOLS, linux)
    again.update()
    assert not (again.source / "mm" / "left.c").exists()
    assert (again.source / "mm" / "old.c").read_text() == "old\n"
    assert (again.source / "mm" / "new.c").read_text() == "new\n"


def test_new_file_that_linux_has_is_an_error(overlay: Path, linux: Path) -> None:
    (linux / "mm" / "new.c").touch()
    with pytest.raises(KlocError, match=r"mm/new\.c") as error:
        kernel_source.WorkTree(NO_TOOLS, linux).update()
    assert "patch" in (error.value.hint or "")


def test_series_lists_patches_in_order_without_comments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    overlay = made_up_overlay.overlay(tmp_path, "# a comment\n\n0002.patch\n0001.patch\n")
    monkeypatch.setattr(kernel_source, "KERNEL", overlay)
    assert [path.name for path in kernel_source.patches()] == ["0002.patch", "0001.patch"]
