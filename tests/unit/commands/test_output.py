# SPDX-License-Identifier: GPL-2.0
"""Where results go: files, stdout and tables."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import output

CONTENT = {"runs": [1.5]}


def options(**values: str | None) -> argparse.Namespace:
    paths = {name: None if value is None else Path(value) for name, value in values.items()}
    return argparse.Namespace(**{"json": None, **paths})


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Any]]:
    """The reports that would have been written, with what they are of."""
    written: list[tuple[Path, Any]] = []
    report = SimpleNamespace(write=lambda path, content: written.append((path, content)))
    monkeypatch.setitem(sys.modules, "kloc.results.report", report)
    return written


@pytest.mark.parametrize(
    ("argv", "path"),
    [([], None), (["--json"], "-"), (["--json", "-"], "-"), (["--json", "f"], "f")],
)
def test_json_takes_a_file_and_is_stdout_without(argv: list[str], path: str | None) -> None:
    parser = argparse.ArgumentParser()
    output.add_json(parser)
    args = parser.parse_args(argv)
    assert args.json == (None if path is None else Path(path))
    assert output.is_stdout(args) == (path == "-")


def test_results_are_shown_and_written(reports: list[Any], tmp_path: Path) -> None:
    shown = []
    args = options(json=f"{tmp_path}/j", report=f"{tmp_path}/r")
    output.deliver(args, CONTENT, lambda: shown.append("tables"))
    assert json.loads((tmp_path / "j").read_text()) == CONTENT
    assert reports == [(tmp_path / "r", CONTENT)]
    # The very same content, so that both show the same figures.
    assert reports[0][1] is CONTENT
    assert shown == ["tables"]


def test_json_is_alone_on_stdout(reports: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    args = options(json="-", report="r")
    output.deliver(args, CONTENT, lambda: print("tables"))
    assert json.loads(capsys.readouterr().out) == CONTENT
    assert reports == [(Path("r"), CONTENT)]


def test_tables_are_shown_even_if_a_file_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise KlocError("the disk is full")

    monkeypatch.setitem(sys.modules, "kloc.results.report", SimpleNamespace(write=fail))
    for args in (options(json=f"{tmp_path}/no/j"), options(report=f"{tmp_path}/r")):
        shown: list[str] = []
        with pytest.raises(KlocError):
            output.deliver(args, CONTENT, lambda shown=shown: shown.append("tables"))
        assert shown == ["tables"]


def test_files_are_written_before_tables_are_shown(tmp_path: Path) -> None:
    def closed() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        output.deliver(options(json=f"{tmp_path}/j"), CONTENT, closed)
    assert json.loads((tmp_path / "j").read_text()) == CONTENT


@pytest.mark.parametrize("option", ["json", "report", "plot"])
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("missing/out", "missing does not exist"),
        (".", "directory"),
        ("closed/out", "closed"),
        ("pipe", "not a regular file"),
        ("/proc/out", "in /proc: No such file"),
        ("x" * 250, "File name too long"),
    ],
)
def test_file_that_cannot_be_written_is_refused_with_its_option(
    option: str, target: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "closed").mkdir()
    # Root may write anywhere.
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: "closed" not in str(path) and allowed(path, mode)
    )
    with pytest.raises(KlocError, match=f"--{option} .*{reason}") as refused:
        output.check(options(**{option: str(tmp_path / target)}))
    assert refused.value.hint
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "closed"}


@pytest.mark.parametrize("name", ["out", "in/out"])
def test_file_in_a_directory_without_access_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    directory = tmp_path / "closed"
    directory.mkdir()
    stat, access = Path.stat, os.access

    def denied(path: Path, **how: Any) -> os.stat_result:
        if directory in path.parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, **how)

    monkeypatch.setattr(Path, "stat", denied)
    monkeypatch.setattr(os, "access", lambda path, mode: path != directory and access(path, mode))
    with pytest.raises(KlocError, match=r"--json .*ermission") as refused:
        output.check(options(json=str(directory / name)))
    assert refused.value.hint


def test_writable_files_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    output.check(options(json=f"{tmp_path}/old", report=f"{tmp_path}/new", plot=None))
    output.check(options(json="-"))
    output.check(options())
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_link_to_the_report_is_below_the_tables(
    reports: list[Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    terminal.stderr.cache_clear()
    path = tmp_path / "a report.html"
    output.deliver(
        options(report=str(path)), CONTENT, lambda: print("tables", file=sys.stderr, flush=True)
    )
    lines = capfd.readouterr().err.splitlines()
    assert lines == ["tables", f"report: {path.as_uri()}"]
    assert path.as_uri().endswith("a%20report.html")
    output.deliver(options(), CONTENT, lambda: None)
    assert capfd.readouterr().err == ""


def test_there_is_no_link_to_what_was_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise KlocError("the disk is full")

    monkeypatch.setitem(sys.modules, "kloc.results.report", SimpleNamespace(write=fail))
    with pytest.raises(KlocError):
        output.deliver(options(report=f"{tmp_path}/r"), CONTENT, lambda: None)
    assert "file://" not in capsys.readouterr().err


def test_two_outputs_need_two_files(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="same file"):
        output.check(options(json=f"{tmp_path}/out", report=f"{tmp_path}/./out"))
