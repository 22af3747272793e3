# SPDX-License-Identifier: GPL-2.0
"""Chooses processes whose files have contexts: prctl(PR_KLOC), the paper's sys_enable_kloc()."""

from __future__ import annotations

import ctypes
import errno
import os

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.server import contexts

PR_KLOC = 0x4B4C4F43
PR_KLOC_GET, PR_KLOC_SET = 0, 1

PID_MAX = (1 << 31) - 1


def chosen(pid: int = 0) -> bool:
    """Return whether the process (0: this one) is chosen; KlocError if that cannot be told."""
    return bool(_prctl(PR_KLOC_GET, pid, 0))


def choose(pid: int = 0, on: bool = True) -> None:
    """Choose the process (0: this one) or not; KlocError, with what to do, if that fails."""
    _prctl(PR_KLOC_SET, pid, int(on))


def say_if_without_effect() -> None:
    """Tell the person if it does not matter now which processes are chosen."""
    if not contexts.enabled():
        terminal.say(f"this has no effect while contexts are switched off; {contexts.SWITCH_ON}")
    elif (contexts.setting("scope") or contexts.ALL) == contexts.ALL:
        terminal.say(
            "this has no effect while files of all processes have contexts; "
            f"as root: echo {contexts.CHOSEN} > /{contexts.SETTINGS}/scope"
        )


def _prctl(what: int, pid: int, on: int) -> int:
    result = _call(PR_KLOC, what, pid, on, 0)
    if result < 0:
        raise _error(ctypes.get_errno(), pid)
    return result


def _call(*arguments: int) -> int:
    """Call prctl(2)."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.restype = ctypes.c_int
    return int(prctl(ctypes.c_int(arguments[0]), *map(ctypes.c_ulong, arguments[1:])))


def _error(number: int, pid: int) -> KlocError:
    if number == errno.ESRCH:
        return KlocError(f"there is no process {pid}, or it is the kernel's own or ends")
    if number == errno.EPERM:
        return KlocError(f"process {pid} is not yours to choose", contexts.AS_ROOT)
    if number == errno.EINVAL:
        # The arguments are right: the kernel does not know the call.
        contexts.check_kernel()
        return KlocError(
            f"this kernel, Linux {os.uname().release}, cannot choose processes",
            "its contexts are older than prctl(PR_KLOC): boot a newer one",
        )
    return KlocError(f"prctl(PR_KLOC) failed: {os.strerror(number)}")
