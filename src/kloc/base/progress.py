# SPDX-License-Identifier: GPL-2.0
"""What is said to the person: messages, progress, questions. All of it goes to stderr.

stdout is left to results, which `print` or `console_out` writes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kloc.base.terminal import say, stderr

if TYPE_CHECKING:
    from rich.console import RenderableType

QUIET_SECONDS = 2.0
"""Work shorter than this shows no progress."""

LINE_SECONDS = 15.0
"""Where there is no terminal, progress is a line this often."""

_Tick = Callable[[], None]

Redraw = Callable[["RenderableType"], None]

_line = threading.Lock()
"""Held by the progress that has the terminal's line; work within that work shows none."""


class Progress:
    """Work under way: `completed` of `total` units, or of an unknown number where None."""

    def __init__(self, description: str, total: float | None) -> None:
        """Start the clock."""
        self.description = description
        self.total = total
        self.completed = 0.0
        self._start = time.monotonic()

    def advance(self, units: float = 1) -> None:
        """Note that `units` more are done."""
        self.completed += units

    def update(self, completed: float) -> None:
        """Note that `completed` units are done in all."""
        self.completed = completed

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest will take at the mean speed so far; None where that is unknown."""
        if not self.total or not self.completed:
            return None
        return self.elapsed * max(0.0, self.total / self.completed - 1)

    def line(self) -> str:
        """Return the state as text, such as `building the kernel: 41 %, 3:05 left`."""
        return f"{self.description}: {self.share()}"

    def share(self) -> str:
        """Return how much is done, such as `41 %, 3:05 left`; else the time so far."""
        if not self.total:
            return _clock(self.elapsed)
        percent = min(99, int(100 * self.completed / self.total))
        left = self.seconds_left
        return f"{percent} %" + (f", {_clock(left)} left" if left else "")


@contextmanager
def shown(description: str, total: float | None = None) -> Iterator[Progress]:
    """Show `description` with the time left while the block runs, if it runs over two seconds.

    The block calls `advance` or `update`, in units of which there are `total`.
    """
    with _shown(Progress(description, total)) as state:
        yield state


@contextmanager
def estimated(description: str, seconds: float) -> Iterator[None]:
    """Show progress of work that tells nothing of itself and takes about `seconds`."""
    state = Progress(description, seconds)
    with _shown(state, tick=lambda: state.update(min(state.elapsed, 0.98 * seconds))):
        yield


@contextmanager
def redrawn() -> Iterator[Redraw]:
    """Let the block redraw a part of the terminal, which is gone after it.

    It calls what this yields with what is to be shown. Progress within the block is not shown.
    """
    from rich.live import Live

    with _line, Live(console=stderr(), auto_refresh=False, transient=True) as live:
        yield lambda what: live.update(what, refresh=True)


@contextmanager
def _shown(state: Progress, tick: _Tick = lambda: None) -> Iterator[Progress]:
    """Draw `state` from a thread of its own while the block runs."""
    over = threading.Event()
    draw = _draw_bar if stderr().is_terminal else _draw_lines
    painter = threading.Thread(target=draw, args=(state, tick, over), daemon=True)
    painter.start()
    try:
        yield state
    finally:
        over.set()
        painter.join()


def _draw_bar(state: Progress, tick: _Tick, over: threading.Event) -> None:
    """Keep one line of the terminal up to date."""
    if over.wait(QUIET_SECONDS) or not _line.acquire(blocking=False):
        return
    with stderr().status("") as status:
        while not over.is_set():
            tick()
            status.update(state.line())
            over.wait(0.5)
    _line.release()


def _draw_lines(state: Progress, tick: _Tick, over: threading.Event) -> None:
    """Print a line every now and then."""
    pause = QUIET_SECONDS
    while not over.wait(pause):
        tick()
        say(state.line())
        pause = LINE_SECONDS


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
