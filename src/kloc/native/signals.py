# SPDX-License-Identifier: GPL-2.0
"""Lets signals in only where kloc waits, so that none comes while settings are restored.

Children get them at any time, and end with kloc.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What interrupts kloc (kloc.cli makes a KeyboardInterrupt of each)."""

PR_SET_PDEATHSIG = 1


class _Interrupts:
    """What signals do: raise KeyboardInterrupt if they are heard, or else wait until they are.

    A mask would not do: another thread of this process may take a signal that this one blocks.
    """

    def __init__(self) -> None:
        self.heard = self.waiting = False

    def handle(self, *_: Any) -> None:
        """Take a signal."""
        self.waiting = True
        self.raise_if_heard()

    def raise_if_heard(self) -> None:
        """Raise KeyboardInterrupt for a signal that waits. The next one waits for the next block.

        So that a second Ctrl-C does not stop what the first one has started.
        """
        if self.heard and self.waiting:
            self.heard = self.waiting = False
            raise KeyboardInterrupt


_interrupts = _Interrupts()


@contextmanager
def held() -> Iterator[None]:
    """Let signals wait during the block, but for those parts of it that are `heard`.

    Raises KeyboardInterrupt at the end for one that still waits. Blocks are not nested.
    """
    _interrupts.heard = _interrupts.waiting = False
    before = {}
    for number in SIGNALS:
        # nohup ignores SIGHUP so that kloc keeps running.
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, _interrupts.handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if _interrupts.waiting:
        raise KeyboardInterrupt


@contextmanager
def heard() -> Iterator[None]:
    """Let signals in during the block; one that waits comes at its beginning."""
    try:
        _interrupts.heard = True
        _interrupts.raise_if_heard()
        yield
    finally:
        _interrupts.heard = False


def begin_child() -> None:
    """Let a child, between its fork and exec, be killed when kloc ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
