# SPDX-License-Identifier: GPL-2.0
"""How fast this host measures, from its last measurement: for the time that --dry-run gives.

It is kept in the cache directory and is in no result, because it differs from host to host.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from kloc.base import cache, files
from kloc.base.errors import KlocError

NAME = "host-speed.json"
"""The file, with the instructions that a machine executed in a second of the host's time.

Instructions are those that tasks expect (Task.job), so that an error of theirs cancels out.
"""

KEY = "instructions_per_second"

TYPICAL = 80e6
"""The instructions per second of a host that has not measured yet.

With two machines at once, README.md's comparison then takes half an hour.
"""


def note(instructions: float, seconds: float, machines: int) -> None:
    """Keep the speed of a measurement in which `machines` ran at once."""
    if instructions <= 0 or seconds <= 0:
        return
    # A cache that cannot be written is no reason to lose a result.
    with suppress(KlocError):
        rate = instructions / seconds / machines
        files.write_text(_path(), json.dumps({KEY: rate}) + "\n")


def seconds(instructions: float, machines: int) -> float | None:
    """Return how long tasks with so many instructions take, `machines` at once.

    None if this host has not measured anything yet.
    """
    try:
        rate = float(json.loads(_path().read_text())[KEY])
    except (OSError, ValueError, LookupError, TypeError, KlocError):
        return None
    return instructions / rate / machines if rate > 0 else None


def typical_seconds(instructions: float, machines: int) -> float:
    """Return how long tasks take on a host with the speed TYPICAL, as `seconds` does."""
    return instructions / TYPICAL / machines


def _path() -> Path:
    return cache.directory() / NAME
