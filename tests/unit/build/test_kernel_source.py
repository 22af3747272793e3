# SPDX-License-Identifier: GPL-2.0
"""The kernel's work tree when the disk is full, and after it was."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, cast

import pytest

from kloc.build import kernel_make, kernel_source
from kloc.build.root import Root
from support import made_up_overlay

TOOLS = cast(Root, None)
"""Nothing here runs a program of the root's."""


@pytest.fixture
def overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel/ with one new file and no patches."""
    folder = made_up_overlay.overlay(tmp_path)
    monkeypatch.setattr(kernel_source, "KERNEL", folder)
    return folder


@pytest.fixture
def linux(tmp_path: Path) -> Path:
    source = tmp_path / "linux" / "source"
    (source / "mm").mkdir(parents=True)
    (source / "mm" / "old.c").write_text("old\n")
    return source


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on files can be opened and emptied, and nothing can be written to them."""

    def write_text(path: Path, *_: Any) -> int:
        path.open("w").close()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_text)


def make(tmp_path: Path, steps: int) -> kernel_make.Make:
    """Return a build whose program says `steps` lines, and compiles nothing."""

    class Fake:
        def follow(self, argv: list[str], on_line: Any, **_: Any) -> int:
            for _ in range(steps):
                on_line("CC file.o\n")
            return 0

    objects = tmp_path / "objects"
    objects.mkdir(exist_ok=True)
    return kernel_make.Make(cast(Root, Fake()), tmp_path, objects)


def test_a_full_disk_leaves_a_tree_that_can_be_used_again(
    monkeypatch: pytest.MonkeyPatch, overlay: Path, linux: Path
) -> None:
    tree = kernel_source.WorkTree(TOOLS, linux)
    tree.update()
    with monkeypatch.context() as full:
        fill_the_disk(full)
        with pytest.raises(OSError, match="No space"):
            tree.update()
    (overlay / "files" / "mm" / "new.c").unlink()
    again = kernel_source.WorkTree(TOOLS, linux)
    again.update()
    assert not (again.source / "mm" / "new.c").exists()


@pytest.mark.parametrize("noted", ["", '["mm/ne', "\0\0"])
def test_a_tree_of_which_nothing_is_known_is_made_anew(
    noted: str, overlay: Path, linux: Path
) -> None:
    tree = kernel_source.WorkTree(TOOLS, linux)
    tree.update()
    (tree.source / "mm" / "left.c").touch()
    (tree.folder / "changed.json").write_text(noted)
    again = kernel_source.WorkTree(TOOLS, linux)
    again.update()
    assert not (again.source / "mm" / "left.c").exists()
    assert (again.source / "mm" / "old.c").read_text() == "old\n"
    assert (again.source / "mm" / "new.c").read_text() == "new\n"


def test_how_long_the_last_build_took_outlives_a_full_disk(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, tmp_path: Path
) -> None:
    make(tmp_path, 7).compile()
    assert make(tmp_path, 8)._steps() == 7
    with monkeypatch.context() as full:
        fill_the_disk(full)
        with pytest.raises(OSError, match="No space"):
            make(tmp_path, 8).compile()
    assert make(tmp_path, 8)._steps() == 7


def test_unreadable_steps_are_unknown(empty_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "steps").touch()
    assert make(tmp_path, 8)._steps() == kernel_make.FIRST_STEPS
