# SPDX-License-Identifier: GPL-2.0
"""Unexpected errors: the file with the traceback, and what is printed without one."""

from __future__ import annotations

import _thread
import errno
import io
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import crash


@pytest.fixture(autouse=True)
def hooks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The hooks of Python are restored; temporary files go to an empty directory."""
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(crash.tempfile, "tempdir", str(tmp_path))


def raised(error: Exception) -> Exception:
    try:
        raise error
    except type(error) as caught:
        return caught


def test_file_has_the_command_line_and_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["kloc", "run", "a b"])
    assert crash.report(raised(ValueError("two\nlines"))) == crash.STATUS
    (file,) = tmp_path.iterdir()
    printed = f"kloc: unexpected ValueError: two lines; the traceback is in {file}\n"
    assert capsys.readouterr().err == printed
    assert "kloc run 'a b'\n" in file.read_text()
    assert "raise error" in file.read_text()


def test_traceback_is_printed_if_no_file_can_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> tuple[int, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(crash.tempfile, "mkstemp", fail)
    crash.report(raised(ValueError()))
    line, *traceback = capsys.readouterr().err.splitlines()
    assert line.startswith("kloc: unexpected ValueError; the traceback cannot be written")
    assert "raise error" in "\n".join(traceback)


def test_stderr_that_cannot_be_written_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    assert crash.report(raised(ValueError())) == crash.STATUS


def test_errors_of_threads_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    crash.report_those_of_threads()
    thread = threading.Thread(target=lambda: [][1])
    thread.start()
    thread.join()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("kloc: unexpected IndexError: ")


def test_interrupt_that_python_would_ignore_comes_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    crash.report_those_of_threads()
    again = threading.Event()
    monkeypatch.setattr(_thread, "interrupt_main", again.set)
    sys.unraisablehook(SimpleNamespace(exc_type=KeyboardInterrupt))  # type: ignore[arg-type]
    assert again.wait(20)
    assert capsys.readouterr().err == ""
