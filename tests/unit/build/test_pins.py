# SPDX-License-Identifier: GPL-2.0
"""The pinned versions: the file, apt's preferences, and what is said if Debian has others."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import pins, root


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with two pins, which is in use during the test."""
    path = tmp_path / "pins.txt"
    monkeypatch.setattr(pins, "FILE", path)
    pins.write({"libc6": "2.41-12", "gcc-14": "14.2.0-19"})
    return path


def test_file_is_read_as_it_was_written(file: Path) -> None:
    assert pins.read() == {"gcc-14": "14.2.0-19", "libc6": "2.41-12"}
    assert file.read_text().startswith("#")


@pytest.mark.usefixtures("file")
def test_package_that_no_figure_depends_on_is_not_pinned() -> None:
    (name,) = pins.UNPINNED
    pins.write({name: "1", "libc6": "2"})
    assert pins.read() == {"libc6": "2"}


@pytest.mark.parametrize("line", ["libc6", "libc6 2.41 more"])
def test_line_that_is_not_a_pin_is_an_error(file: Path, line: str) -> None:
    file.write_text(f"# a comment\n{line}\n")
    with pytest.raises(KlocError, match="line 2"):
        pins.read()


def test_preferences_are_stronger_than_a_newer_version() -> None:
    text = pins.preferences({"libc6": "2.41-12", "seabios": "1.16.3-2"})
    assert "Package: libc6\nPin: version 2.41-12\nPin-Priority: 1001\n\nPackage: seabios" in text


@pytest.mark.usefixtures("file")
def test_other_versions_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    installed = {"libc6": "2.41-13", "gcc-14": "14.2.0-19", "sysbench": "1.0"}
    assert pins.missed(installed) == {"libc6": ("2.41-12", "2.41-13")}
    pins.report("the tool root", installed)
    said = " ".join(capsys.readouterr().err.split())
    assert "libc6 2.41-13 for 2.41-12" in said
    assert "Figures may differ from README's" in said


@pytest.mark.usefixtures("file")
def test_pinned_versions_are_not_worth_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    pins.report("the tool root", {"libc6": "2.41-12"})
    assert capsys.readouterr().err == ""


def test_tools_that_figures_depend_on_are_pinned() -> None:
    assert set(root.VERSIONS_OF.values()) <= pins.read().keys()
