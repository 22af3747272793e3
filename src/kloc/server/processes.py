# SPDX-License-Identifier: GPL-2.0
"""Chooses and releases processes, whose files get contexts while the scope is `chosen`.

The system call is prctl(PR_KLOC), which is the paper's sys_enable_kloc().
"""

from __future__ import annotations

import ctypes
import errno
import os

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.server import contexts, tiering
from kloc.server.system import AS_ROOT

PR_KLOC = 0x4B4C4F43
PR_KLOC_GET, PR_KLOC_SET = 0, 1

PID_MAX = (1 << 31) - 1


def is_chosen(pid: int = 0) -> bool:
    """Return whether a process (0: this one) is chosen. Raises KlocError if the call fails."""
    return bool(_control(PR_KLOC_GET, pid, 0))


def choose(pid: int = 0) -> None:
    """Choose a process (0: this one). Raises KlocError if the call fails."""
    _control(PR_KLOC_SET, pid, 1)


def release(pid: int = 0) -> None:
    """Undo `choose` of a process (0: this one). Raises KlocError if the call fails."""
    _control(PR_KLOC_SET, pid, 0)


def warn_if_ineffective() -> None:
    """Print a message if the kernel ignores at present which processes are chosen."""
    if not contexts.exist():
        terminal.say(f"this has no effect: {contexts.missing()}; {contexts.HOW_TO_SELECT}")
    elif contexts.scope() == contexts.ALL:
        terminal.say(
            "this has no effect while the files of all processes have contexts; "
            f"as root: echo {contexts.CHOSEN} > /{contexts.SETTINGS}/scope"
        )


def call_prctl(*arguments: int) -> int:
    """Call prctl(2) and return its result; on failure that is -1, and ctypes has the errno."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.restype = ctypes.c_int
    return int(prctl(ctypes.c_int(arguments[0]), *map(ctypes.c_ulong, arguments[1:])))


def _control(operation: int, pid: int, value: int) -> int:
    result = call_prctl(PR_KLOC, operation, pid, value, 0)
    if result < 0:
        raise _explain(ctypes.get_errno(), pid)
    return result


def _explain(number: int, pid: int) -> KlocError:
    """Return the error for an errno of prctl(PR_KLOC)."""
    if number == errno.ESRCH:
        return KlocError(
            f"process {pid} does not exist, is exiting, or is a kernel thread",
            "ps -e lists the processes",
        )
    if number == errno.EPERM:
        return KlocError(f"no permission to choose or release process {pid}", AS_ROOT)
    if number == errno.EINVAL:
        # The arguments are valid, so the kernel does not know PR_KLOC.
        tiering.check_kernel()
        return KlocError(
            f"this kernel, Linux {os.uname().release}, cannot choose processes: "
            "it does not know prctl(PR_KLOC)",
            "boot a newer kernel with contexts",
        )
    return KlocError(f"prctl(PR_KLOC) failed for process {pid}: {os.strerror(number)}")
