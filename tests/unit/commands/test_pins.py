# SPDX-License-Identifier: GPL-2.0
"""`kloc pins`: shows the pinned versions, and moves them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.build import newest, pins, root
from support.command import run


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of pins, which is in use during the test."""
    monkeypatch.setattr(pins, "FILE", tmp_path / "pins.txt")
    pins.write({"linux-source-6.12": "6.12.1-1", "bc": "1.07"})
    return pins.FILE


@pytest.mark.usefixtures("file")
def test_tools_are_shown_with_their_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pins") == 0
    text = capsys.readouterr().out
    assert "linux-source  6.12.1-1" in text
    assert "2 packages in" in text


@pytest.mark.usefixtures("file")
def test_json_has_all_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pins", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"linux-source-6.12": "6.12.1-1", "bc": "1.07"}


@pytest.mark.usefixtures("file")
def test_update_pins_what_debian_has_and_names_what_moved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted: set[str] = set()

    def offered(guests: set[str]) -> dict[str, str]:
        wanted.update(guests)
        return {"linux-source-6.12": "6.12.2-1", "bc": "1.07", "redis-server": "8.0"}

    monkeypatch.setattr(newest, "newest", offered)
    assert run("pins", "--update") == 0
    out, err = capsys.readouterr()
    assert "linux-source-6.12: 6.12.1-1 -> 6.12.2-1\nredis-server: not pinned -> 8.0\n" in out
    assert "2 versions moved" in " ".join(err.split())
    assert pins.read()["linux-source-6.12"] == "6.12.2-1"
    assert {"redis-server", "rocksdb-tools", "librocksdb-dev"} <= wanted


@pytest.mark.usefixtures("file")
def test_update_says_if_nothing_is_newer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(newest, "newest", lambda _: pins.read())
    assert run("pins", "--update") == 0
    assert "nothing newer" in capsys.readouterr().out


def test_dry_run_changes_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = file.read_text()
    assert run("pins", "--update", "--dry-run") == 0
    assert "would rewrite" in capsys.readouterr().out
    assert file.read_text() == before


def test_tools_have_names_that_fit_the_column() -> None:
    assert max(map(len, root.VERSIONS_OF)) < 14
