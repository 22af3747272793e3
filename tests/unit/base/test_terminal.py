# SPDX-License-Identifier: GPL-2.0
import io
import time

import pytest

from kloc.base import progress, terminal
from kloc.base.errors import KlocError


def test_nobody_is_asked_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(KlocError) as error:
        terminal.ask("Install it?", "say --yes")
    assert error.value.hint == "say --yes"


def test_yes_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    assert terminal.ask("Install it?", "")


def test_the_end_of_the_input_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(terminal.stderr(), "input", end)
    assert not terminal.ask("Install it?", "")


def test_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    work = progress.Progress("building", total=40)
    assert work.line() == "building: 0 %"
    now += 30
    work.advance(10)
    assert work.seconds_left == 90
    assert work.line() == "building: 25 %, 1:30 left"
    work.update(50)
    assert work.line() == "building: 99 %"


def test_work_of_unknown_length(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    work = progress.Progress("waiting", total=None)
    now = 61
    assert work.line() == "waiting: 1:01"


def test_short_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.stderr.cache_clear()
    with progress.shown("short", 1), progress.estimated("inner", 1):
        pass
    assert capsys.readouterr().err == ""
