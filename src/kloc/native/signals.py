# SPDX-License-Identifier: GPL-2.0
"""Lets signals in only where kloc waits, so that none comes while settings are restored."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What interrupts kloc (kloc.cli makes a KeyboardInterrupt of each)."""


@contextmanager
def held() -> Iterator[None]:
    """Let signals wait during the block, but for those parts of it that are `heard`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def heard() -> Iterator[None]:
    """Let signals in during the block. The KeyboardInterrupt comes from within, or at its end."""
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    try:
        yield
    finally:
        # Python calls the handlers of what has arrived until now in here.
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_in() -> None:
    """Let signals in, for a child between fork and exec, which inherits what is held."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
