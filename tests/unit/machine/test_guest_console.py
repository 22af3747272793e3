# SPDX-License-Identifier: GPL-2.0
"""Excerpts of the guest's console show what matters."""

from __future__ import annotations

from kloc.machine.guest_console import CONSOLE_TAIL, CRASH, WARNING, excerpt

BOOT = [f"[ 1.{number:03}] booting" for number in range(40)]
OOPS = ["[ 2.000] Oops: general protection fault", "[ 2.001] RIP: somewhere"]
TRACE = [f"[ 3.{number:03}]  ? some_function" for number in range(40)]


def test_excerpt_has_the_last_lines() -> None:
    assert excerpt("\n".join(BOOT)).splitlines() == BOOT[-CONSOLE_TAIL:]
    assert excerpt("") == ""


def test_excerpt_of_a_crash_begins_with_it() -> None:
    lines = excerpt("\n".join([*BOOT, *OOPS, *TRACE])).splitlines()
    assert lines[:2] == OOPS
    assert len(lines) == CONSOLE_TAIL


def test_warnings_of_the_kernel_are_found() -> None:
    assert WARNING.search("[ 2.0] WARNING: CPU: 0 PID: 1 at mm/vmscan.c:1")
    assert WARNING.search("[ 2.0] INFO: task kswapd0:50 blocked for more than 120 seconds")
    assert not WARNING.search("\n".join(BOOT))


def test_a_data_race_is_no_crash() -> None:
    assert CRASH.search("[ 2.0] BUG: sleeping function called from invalid context")
    assert not CRASH.search("[ 2.0] BUG: KCSAN: data-race in kloc_wake / kloc_thread")
