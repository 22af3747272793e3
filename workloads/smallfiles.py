# SPDX-License-Identifier: GPL-2.0
"""Tens of thousands of small files in many directories: inodes, dentries, pages, journal.

A program of our own, workloads/src/smallfiles.c: of Debian's, fsmark reads
nothing and postmark neither renames nor lists. Each session goes to a directory
drawn at random and lists, reads, writes anew, renames and unlinks there. Files
have 4 KiB on average; their contents follow from their names and are compared
at each read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kloc.workload import Outcome, Size, Workload, WorkloadFailed, percentiles

DIRECTORIES = 400
FILES = 200
SESSIONS = 80
COUNT = re.compile(r"^(list|stat|read|create|rename|unlink) (\d+)$", re.M)
TIME = re.compile(r"^time (\d+) (\d+) (\d+)$", re.M)


def _directories(size: Size) -> int:
    return size.loaded(DIRECTORIES)


def _run(command: str, size: Size, seed: int) -> str:
    sessions = size.operations(SESSIONS)
    return f"cd /data/files\nsmallfiles {command} {_directories(size)} {FILES} {sessions} {seed}\n"


def _setup(size: Size, seed: int) -> str:
    return "mkdir /data/files\n" + _run("load", size, 0)


def _measured(size: Size, seed: int) -> str:
    return _run("run", size, seed)


def _check(size: Size, seed: int) -> str:
    return _run("check", size, seed)


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    sessions, changed = size.operations(SESSIONS), FILES // 4
    expected = {
        "list": sessions,
        "stat": sessions * FILES,
        "read": sessions * FILES * 2,
        "create": sessions * changed,
        "rename": sessions * changed,
        "unlink": sessions * changed,
    }
    _expect("done", printed["measured"], expected)
    files = _directories(size) * FILES
    _expect("found afterwards", printed["check"], {"stat": files, "read": files})
    histogram = {(float(a), float(b)): int(n) for a, b, n in TIME.findall(printed["measured"])}
    return Outcome(sum(expected.values()), percentiles(histogram))


def _expect(word: str, text: str, expected: Mapping[str, int]) -> None:
    counted = {name: int(count) for name, count in COUNT.findall(text)}
    for name, count in expected.items():
        if counted.get(name) != count:
            raise WorkloadFailed(
                f"smallfiles: {counted.get(name)} of {count} x {name} were {word}"
            )


def workloads() -> Iterable[Workload]:
    """Return smallfiles."""
    yield Workload(
        name="smallfiles",
        summary="80,000 small files in 400 directories: list, read, create, rename, unlink",
        packages=(),
        programs=("smallfiles.c",),
        setup=_setup,
        measured=_measured,
        check=_check,
        outcome=_outcome,
        instructions=10e9,
    )
