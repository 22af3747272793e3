# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

import re

from kloc.build.root import last_lines

CONSOLE_TAIL = 25
CRASH = re.compile(r"Kernel panic|\bBUG: |\bOops: |general protection fault")
WARNING = re.compile(r"WARNING: |INFO: (?:rcu|task)")


def telling(console: str) -> str:
    """Return the CONSOLE_TAIL lines that tell most: from the kernel's crash on, or the last."""
    crash = CRASH.search(console)
    if crash is None:
        return last_lines(console.strip(), CONSOLE_TAIL)
    begin = console.rfind("\n", 0, crash.start()) + 1
    return "\n".join(console[begin:].strip().splitlines()[:CONSOLE_TAIL])
