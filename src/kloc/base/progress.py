# SPDX-License-Identifier: GPL-2.0
"""Shows the progress of long work on stderr: a bar on a terminal, elsewhere a line now and then.

Only one progress is shown at a time: work within work that is shown shows nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kloc.base import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

QUIET_SECONDS = 2.0
"""Work shorter than this shows no progress."""

REDRAW_SECONDS = 0.25
"""How often the bar is redrawn on a terminal."""

LINE_SECONDS = 15.0
"""How often a line is printed where there is no terminal."""

SPEED_SECONDS = 300.0
"""The time left is estimated from the mean speed over this period."""

BAR_WIDTH = 30
"""Columns of the bar; fewer if the terminal is narrow."""

Redraw = Callable[["RenderableType"], None]

_display = threading.Lock()
"""Held by the progress that is shown."""


class Progress:
    """The progress of some work: `completed` of `total` units. `total` is None if unknown.

    `description` may change while the work runs. `told` is the share that another process has told
    of this work; it is shown in place of the own one.
    """

    def __init__(
        self,
        description: str,
        total: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock, which returns seconds."""
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        self.description = description
        self.completed = 0.0
        self.told: str | None = None
        self._rich = Progress(
            # A long description wraps, so that the share stays readable.
            TextColumn("{task.description}", markup=False, table_column=Column()),
            BarColumn(bar_width=None, table_column=Column(max_width=BAR_WIDTH)),
            TextColumn("{task.fields[share]}", markup=False),
            console=terminal.stderr(),
            auto_refresh=False,
            speed_estimate_period=SPEED_SECONDS,
            transient=True,
            # Output that is printed meanwhile appears above the bar; a file gets it unchanged.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=sys.stderr.isatty(),
            get_time=clock,
        )
        task = self._rich.add_task(description, total=total or None, share="")
        self._task = self._rich.tasks[0]
        # Rich measures the speed from the first sample on: take it now.
        self._rich.advance(task, 0)

    def advance(self, units: float = 1) -> None:
        """Count `units` more as done."""
        self.update(self.completed + units)

    def update(self, completed: float) -> None:
        """Set how many units are done in total."""
        self.completed = completed
        self._rich.update(self._task.id, completed=completed)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._task.elapsed or 0.0

    def line(self) -> str:
        """Return the description and `share`: `building the kernel: 41 %, 3:05 left`."""
        return f"{self.description}: {self.share()}"

    def share(self) -> str:
        """Return how much is done and the time left: `41 %, 3:05 left`.

        Without a total, return the time since the start. Totals can be estimates: work that takes
        longer is not said to be nearly at its end.
        """
        if self.told is not None:
            return self.told
        if self._task.total is None:
            return _minutes(self.elapsed)
        if self.completed >= self._task.total:
            return f"{_minutes(self.elapsed)} so far, longer than estimated"
        percent = min(99, int(self._task.percentage))
        left = self._task.time_remaining
        return f"{percent} %" + (f", {_minutes(left)} left" if left else "")

    @contextmanager
    def drawn(self) -> Iterator[Callable[[], None]]:
        """Draw the bar on the terminal during the block, which redraws it with what this yields."""
        self._update_text()
        with self._rich:
            yield lambda: self._update_text(refresh=True)

    def _update_text(self, refresh: bool = False) -> None:
        self._rich.update(
            self._task.id, description=self.description, share=self.share(), refresh=refresh
        )


@contextmanager
def shown(description: str, total: float | None = None) -> Iterator[Progress]:
    """Show the progress of the block, from its third second on.

    The block calls `advance` or `update` with units of which there are `total`.
    """
    with _shown(Progress(description, total)) as progress:
        yield progress


@contextmanager
def estimated(description: str, seconds: float) -> Iterator[None]:
    """Show the progress of a block that reports none itself and takes about `seconds`."""
    progress = Progress(description, seconds)
    with _shown(progress, tick=lambda: progress.update(min(progress.elapsed, seconds))):
        yield


@contextmanager
def redrawn() -> Iterator[Redraw]:
    """Let the block redraw a part of the terminal, which is cleared at the end.

    The block calls the yielded function with what to show. No other progress is shown meanwhile.
    """
    from rich.live import Live

    with _display, Live(console=terminal.stderr(), auto_refresh=False, transient=True) as live:
        yield lambda content: live.update(content, refresh=True)


@contextmanager
def _shown(progress: Progress, tick: Callable[[], None] = lambda: None) -> Iterator[Progress]:
    """Show `progress` from a thread while the block runs; call `tick` before each redraw."""
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(progress, tick, done), daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        done.set()
        thread.join()


def _show(progress: Progress, tick: Callable[[], None], done: threading.Event) -> None:
    if done.wait(QUIET_SECONDS) or not _display.acquire(blocking=False):
        return
    try:
        if terminal.stderr().is_terminal:
            _redraw_bar(progress, tick, done)
        else:
            _print_lines(progress, tick, done)
    finally:
        _display.release()


def _redraw_bar(progress: Progress, tick: Callable[[], None], done: threading.Event) -> None:
    tick()
    with progress.drawn() as redraw:
        while not done.is_set():
            tick()
            redraw()
            done.wait(REDRAW_SECONDS)


def _print_lines(progress: Progress, tick: Callable[[], None], done: threading.Event) -> None:
    while not done.is_set():
        tick()
        terminal.say(progress.line())
        done.wait(LINE_SECONDS)


def _minutes(seconds: float) -> str:
    """Return seconds as minutes and seconds: `3:05`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
