# SPDX-License-Identifier: GPL-2.0
"""Progress: what is shown, on a terminal and elsewhere, and when nothing is."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from rich.console import Console

from kloc.base import progress, terminal
from kloc.base.paths import PROJECT
from kloc.base.progress import Progress


class Clock:
    """A clock that stands still until a test sets it."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., io.StringIO]:
    """Make stderr a console that a test can read; progress starts, and is repeated, at once."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.005)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.005)

    def replace(is_terminal: bool, width: int = 100) -> io.StringIO:
        output = io.StringIO()
        console = Console(
            file=output, force_terminal=is_terminal, width=width, highlight=False, soft_wrap=True
        )
        monkeypatch.setattr(terminal, "stderr", lambda: console)
        return output

    return replace


def wait_for(text: str, output: io.StringIO) -> None:
    deadline = time.monotonic() + 10
    while text not in output.getvalue():
        assert time.monotonic() < deadline, f"{text!r} is not in {output.getvalue()!r}"
        time.sleep(0.002)


def test_share_and_time_left_follow_the_mean_speed(clock: Clock) -> None:
    work = Progress("building", 40, clock)
    assert work.line() == "building: 0 %"
    clock.seconds += 30
    work.advance(10)
    assert work.line() == "building: 25 %, 1:30 left"
    clock.seconds += 10
    work.update(20)
    assert work.share() == "50 %, 0:40 left"
    assert work.completed == 20
    assert work.elapsed == 40


def test_share_stays_below_100_percent_while_the_work_runs(clock: Clock) -> None:
    work = Progress("building", 40, clock)
    work.update(39.9)
    assert work.line() == "building: 99 %"


@pytest.mark.parametrize("completed", [40, 50])
def test_work_that_takes_longer_than_estimated_says_so(completed: float, clock: Clock) -> None:
    work = Progress("building", 40, clock)
    clock.seconds += 61
    work.update(completed)
    assert work.line() == "building: 1:01 so far, longer than estimated"
    assert work.completed == completed


@pytest.mark.parametrize("total", [None, 0])
def test_work_of_unknown_length_shows_the_time_since_its_start(
    clock: Clock, total: float | None
) -> None:
    work = Progress("waiting", total, clock)
    clock.seconds += 61
    work.advance()
    assert work.line() == "waiting: 1:01"


def test_description_can_change(clock: Clock) -> None:
    work = Progress("starting", 10, clock)
    work.description = "measuring"
    assert work.line() == "measuring: 0 %"


def test_short_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.stderr.cache_clear()
    with progress.shown("short", 1), progress.estimated("inner", 1):
        pass
    assert capsys.readouterr().err == ""


def test_terminal_shows_a_bar_with_description_and_share(
    screen: Callable[..., io.StringIO],
) -> None:
    output = screen(is_terminal=True)
    with progress.shown("building [x]", 10) as work:
        work.update(4)
        wait_for("40 %", output)
        work.description = "linking"
        wait_for("linking", output)
    first_frame = output.getvalue().partition("\r")[0]
    for text in ("building [x]", "━", " %"):
        assert text in first_frame


def test_bar_leaves_nothing_on_the_terminal(screen: Callable[..., io.StringIO]) -> None:
    output = screen(is_terminal=True)
    with progress.shown("building"):
        wait_for("building", output)
    erase_line = "\x1b[2K"
    assert output.getvalue().endswith(erase_line)


def test_bar_fits_a_narrow_terminal(screen: Callable[..., io.StringIO]) -> None:
    output = screen(is_terminal=True, width=40)
    with progress.shown("redis under tpp (measured); rocksdb under kloc", 10) as work:
        work.update(4)
        wait_for("40 %", output)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.getvalue())
    assert all(len(line) <= 40 for line in re.split(r"[\r\n]+", text))


def test_without_a_terminal_lines_are_printed(screen: Callable[..., io.StringIO]) -> None:
    output = screen(is_terminal=False)
    with progress.shown("building", 10) as work:
        work.update(4)
        wait_for("building: 40 %", output)
        work.update(5)
        wait_for("building: 50 %", output)
    assert all(line.startswith("building: ") for line in output.getvalue().splitlines())


def test_estimate_that_was_too_short_is_said(screen: Callable[..., io.StringIO]) -> None:
    output = screen(is_terminal=False)
    with progress.estimated("installing", seconds=0.1):
        wait_for("so far, longer than estimated", output)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_within_progress_shows_nothing(
    screen: Callable[..., io.StringIO], is_terminal: bool
) -> None:
    output = screen(is_terminal)
    with progress.shown("outer"):
        wait_for("outer", output)
        with progress.shown("inner"):
            time.sleep(0.05)
    assert "inner" not in output.getvalue()
    with progress.shown("next"):
        wait_for("next", output)


def test_progress_within_redrawn_shows_nothing(screen: Callable[..., io.StringIO]) -> None:
    output = screen(is_terminal=True)
    with progress.redrawn() as redraw:
        redraw("a table")
        with progress.shown("inner"):
            time.sleep(0.05)
    assert "a table" in output.getvalue()
    assert "inner" not in output.getvalue()
    with progress.shown("next"):
        wait_for("next", output)


def test_failed_work_frees_the_display(screen: Callable[..., io.StringIO]) -> None:
    output = screen(is_terminal=True)
    with pytest.raises(KeyboardInterrupt), progress.shown("first"):
        wait_for("first", output)
        raise KeyboardInterrupt
    with progress.shown("next"):
        wait_for("next", output)


def test_rich_is_imported_only_when_progress_starts() -> None:
    check = "import sys, kloc.base.progress; sys.exit('rich' in sys.modules)"
    env = {"PYTHONPATH": str(PROJECT / "src")}
    assert subprocess.run([sys.executable, "-c", check], env=env).returncode == 0
