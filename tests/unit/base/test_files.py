# SPDX-License-Identifier: GPL-2.0
"""Files are written completely or not at all."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from kloc.base import errors, files
from kloc.base.errors import KlocError
from kloc.base.files import read_text, write_json, write_text


def test_text_replaces_the_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("old and longer", "new"):
        write_text(path, text)
        assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_characters_without_an_encoding_are_written_as_references(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "ä \udcff")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "ä &#56575;"


def test_full_disk_keeps_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail(draft: Path, *_: Any, **__: Any) -> int:
        draft.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", fail)
        with pytest.raises(KlocError, match="No space") as error:
            write_text(path, "new")
    assert str(path) in error.value.message
    assert error.value.hint == errors.NO_SPACE
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_path_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "missing" / "out", tmp_path / "file" / "out"):
        with pytest.raises(KlocError, match="cannot write"):
            write_text(path, "")


def test_json_goes_to_a_file_to_stdout_or_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {"b": 1.5, "a": [None, True]}
    write_json(tmp_path / "out.json", content)
    write_json(Path("-"), content)
    write_json(None, content)
    text = json.dumps(content, indent=1) + "\n"
    assert (tmp_path / "out.json").read_text() == text
    assert capsys.readouterr().out == text


def test_file_that_is_no_text_or_missing_is_refused_with_its_option(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("\u00fc\n", encoding="utf-8")
    assert read_text(path, "--setup") == "\u00fc\n"
    path.write_bytes(b"\x7fELF\xff")
    for wrong, reason in ((path, "not a text file"), (tmp_path, "directory")):
        with pytest.raises(KlocError, match=f"--setup {wrong}: .*{reason}") as error:
            read_text(wrong, "--setup")
        assert error.value.hint


@pytest.mark.parametrize("has_links", [True, False])
def test_what_was_in_a_file_of_results_is_kept_once(
    has_links: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(Path, "hardlink_to", fail)
    files.terminal.stderr.cache_clear()
    path, old = tmp_path / "file", tmp_path / "file.old"
    path.write_text("notes")
    old.write_text("older notes")
    for content in (1, 2):
        write_json(path, content)
        assert path.read_text() == f"{content}\n"
        assert old.read_text() == "notes"
    assert sorted(tmp_path.iterdir()) == [path, old]
    assert capsys.readouterr().err == f"{path} existed: it is now {old}\n"


def test_file_that_is_continued_or_new_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1")
    files.continue_file(path)
    write_json(path, 2)
    write_json(tmp_path / "new", 3)
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "new"]
