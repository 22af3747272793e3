# SPDX-License-Identifier: GPL-2.0
"""Signals that wait while settings are changed, and come where kloc waits."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from kloc.native.signals import SIGNALS, heard, held


@pytest.fixture(autouse=True)
def interrupting() -> Iterator[None]:
    """SIGTERM interrupts this process, as it does kloc."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


def send() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    # Python calls its handler soon, also if another thread has taken the signal.
    time.sleep(0.05)


def test_a_held_signal_comes_where_it_is_heard() -> None:
    reached = []
    with held():
        send()
        reached.append("held")
        with pytest.raises(KeyboardInterrupt), heard():
            reached.append("heard")
        reached.append("held again")
    assert reached == ["held", "held again"]


def test_a_held_signal_waits_though_another_thread_takes_it() -> None:
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt), held():
            send()
            reached = True
    finally:
        ended.set()
        thread.join()
    assert reached


def test_a_signal_while_it_is_heard_comes_within() -> None:
    with held(), pytest.raises(KeyboardInterrupt), heard():
        send()
        pytest.fail("not interrupted")


def test_the_next_signal_waits_although_the_first_one_was_heard() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), held():
        try:
            with heard():
                send()
        except KeyboardInterrupt:
            send()
            reached.append("restored")
    assert reached == ["restored"]


def test_a_signal_that_nothing_hears_comes_at_the_end() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt):
        with held():
            send()
            reached.append("held")
        reached.append("after")
    assert reached == ["held"]


def test_handlers_are_those_of_before_at_the_end() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with held():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with held(), heard():
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.05)
    finally:
        signal.signal(signal.SIGHUP, before)
