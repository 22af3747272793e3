# SPDX-License-Identifier: GPL-2.0
"""Finds kernel crashes and warnings in the output of the guest's console."""

from __future__ import annotations

import re

from kloc.build.root import last_lines

CONSOLE_TAIL = 25
"""The number of lines of the console that an error shows."""

CRASH = re.compile(r"Kernel panic|\bBUG: (?!KCSAN)|\bOops: |general protection fault")
"""What a kernel prints that crashes. A data race that KCSAN reports is no crash."""

WARNING = re.compile(r"WARNING: |INFO: (?:rcu|task)")


def excerpt(console: str) -> str:
    """Return CONSOLE_TAIL lines for an error: from the kernel's crash on, or the last ones."""
    crash = CRASH.search(console)
    if crash is None:
        return last_lines(console.strip(), CONSOLE_TAIL)
    begin = console.rfind("\n", 0, crash.start()) + 1
    return "\n".join(console[begin:].strip().splitlines()[:CONSOLE_TAIL])
