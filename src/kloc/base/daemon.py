# SPDX-License-Identifier: GPL-2.0
"""Policies that are programs in user space: the table [daemon] of a policy's file.

    [daemon]
    packages = ["damo"]      # Debian packages that the machine gets, and a server must have
    files = ["watch.sh"]     # programs beside the policy's file; they are in the PATH
    start = "watch.sh"       # commands of a shell, which stay in the foreground
    ready = "test -e /run/x" # polled until it succeeds: the workload loads after that
    ready_seconds = 10       # the limit for that
    stop = "damo stop"       # run first to end the daemon; what is left gets SIGTERM
    stop_seconds = 10        # and after so long SIGKILL
    needs = ["/sys/kernel/mm/damon/admin"]    # files that the kernel must have

Only `start` is required. The module imports the standard library only: servers read the table, too.
Errors name the file and the key.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kloc.base.errors import KlocError, closest

HINT = 'docs/guide.md ("A policy that is a daemon") explains the table [daemon]'

DAMON = "/sys/kernel/mm/damon"
"""A daemon that needs files below this one controls DAMON."""


@dataclass(frozen=True)
class Daemon:
    """What the table [daemon] says. `files` are absolute paths; times are in seconds."""

    start: str
    packages: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    ready: str | None = None
    ready_seconds: float = 10
    stop: str | None = None
    stop_seconds: float = 10
    needs: tuple[str, ...] = ()

    @property
    def controls_damon(self) -> bool:
        """Whether the schemes of DAMON are those of this daemon."""
        return any(path == DAMON or path.startswith(f"{DAMON}/") for path in self.needs)


def parse(table: object, file: Path) -> Daemon:
    """Return what the table [daemon] of `file` says. Raises KlocError if it is wrong."""
    if not isinstance(table, Mapping):
        raise KlocError(f"{file}: daemon is not a table", HINT)
    known = [one.name for one in fields(Daemon)]
    for key in table:
        if key not in known:
            similar = closest(key, known)
            guess = f", did you mean {similar!r}?" if similar else ""
            raise KlocError(
                f"{file}: daemon.{key}: this key is unknown{guess}",
                f"available: {', '.join(known)}",
            )
    if "start" not in table:
        raise KlocError(f"{file}: daemon.start is missing", HINT)
    found: dict[str, Any] = {
        key: _text(table[key], file, key) for key in ("start", "ready", "stop") if key in table
    }
    for key in ("ready_seconds", "stop_seconds"):
        if key in table:
            found[key] = _seconds(table[key], file, key)
    for key in ("packages", "files", "needs"):
        if key in table:
            found[key] = _texts(table[key], file, key)
    found["files"] = tuple(_beside(file, name) for name in found.get("files", ()))
    for path in found.get("needs", ()):
        if not path.startswith(("/proc/", "/sys/")):
            raise KlocError(f"{file}: daemon.needs: {path} is not a file under /proc or /sys", HINT)
    return Daemon(**found)


def environment(scale: float, fast: Sequence[int], slow: Sequence[int]) -> str:
    """Return a shell command that exports what the commands of a daemon may use.

    `scale` divides periods of a full-size machine; `fast` and `slow` are nodes.
    """
    values = {
        "KLOC_SCALE": f"{scale:g}",
        "KLOC_FAST_NODES": " ".join(map(str, fast)),
        "KLOC_SLOW_NODES": " ".join(map(str, slow)),
    }
    words = (f"{name}={shlex.quote(value)}" for name, value in values.items())
    return f"export {' '.join(words)}\n"


def _text(value: object, file: Path, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise KlocError(f"{file}: daemon.{key}: expected a string with a command", HINT)
    return value if value.endswith("\n") else f"{value}\n"


def _seconds(value: object, file: Path, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise KlocError(f"{file}: daemon.{key}: expected a number of seconds", HINT)
    if not (math.isfinite(value) and value > 0):
        raise KlocError(f"{file}: daemon.{key} is {value}, and must be above 0", HINT)
    return float(value)


def _texts(value: object, file: Path, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise KlocError(f"{file}: daemon.{key}: expected a list of strings", HINT)
    return tuple(value)


def _beside(file: Path, name: str) -> Path:
    """Return the path of a program beside a policy's file. Raises KlocError if there is none."""
    path = file.absolute().parent / name
    if Path(name).name != name:
        raise KlocError(
            f"{file}: daemon.files: {name!r} is not the name of a file",
            f"put the program into {file.absolute().parent}, and write its name",
        )
    if not path.is_file():
        raise KlocError(f"{file}: daemon.files: {path} does not exist", HINT)
    if not os.access(path, os.X_OK):
        raise KlocError(f"{file}: daemon.files: {path} is not executable", f"chmod +x {path}")
    return path
