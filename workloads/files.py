# SPDX-License-Identifier: GPL-2.0
"""Many small files: smallfiles and mail, by programs of our own.

Of Debian's benchmarks fsmark reads nothing, postmark neither renames, lists nor
syncs. Files' contents follow from their names and are compared at each read;
the check goes over all that must be there at the end.

smallfiles (workloads/src/smallfiles.c): inodes, dentries, pages, journal of tens
of thousands of files of 4 KiB on average. Each session goes to a directory drawn
at random and lists it, reads all in it twice, writes a quarter anew, renames
and unlinks.

mail (workloads/src/mail.c): Filebench's Varmail, 16 boxes of messages of 8 KiB
on average that are received, synced, read, added to and deleted while they are
young; old ones are kept and not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kloc.workload import Outcome, Size, Workload, WorkloadFailed, percentiles

DIRECTORIES = 300
FILES = 200
SESSIONS = 80
BOXES = 16
MESSAGES = 3_000
ROUNDS = 450
COUNT = re.compile(r"^([a-z]+) (\d+)$", re.M)
TIME = re.compile(r"^time (\d+) (\d+) (\d+)$", re.M)


def _smallfiles(command: str, size: Size, seed: int) -> str:
    directories, sessions = size.loaded(DIRECTORIES), size.operations(SESSIONS)
    return f"cd /data/files\nsmallfiles {command} {directories} {FILES} {sessions} {seed}\n"


def _smallfiles_setup(size: Size, seed: int) -> str:
    return "mkdir /data/files\n" + _smallfiles("load", size, 0)


def _smallfiles_measured(size: Size, seed: int) -> str:
    return _smallfiles("run", size, seed)


def _smallfiles_check(size: Size, seed: int) -> str:
    return _smallfiles("check", size, seed)


def _smallfiles_outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    sessions, changed = size.operations(SESSIONS), FILES // 4
    expected = {
        "list": sessions,
        "stat": sessions * FILES,
        "read": sessions * FILES * 2,
        "create": sessions * changed,
        "rename": sessions * changed,
        "unlink": sessions * changed,
    }
    _expect("smallfiles: done", printed["measured"], expected)
    files = size.loaded(DIRECTORIES) * FILES
    _expect("smallfiles: found", printed["check"], {"stat": files, "read": files})
    return _timed(printed["measured"], sum(expected.values()))


def _mail(command: str, size: Size, seed: int) -> str:
    messages, rounds = size.loaded(MESSAGES), size.operations(ROUNDS)
    return f"cd /data/mail\nmail {command} {BOXES} {messages} {rounds} {seed}\n"


def _mail_setup(size: Size, seed: int) -> str:
    return "mkdir /data/mail\n" + _mail("load", size, 0)


def _mail_measured(size: Size, seed: int) -> str:
    return _mail("run", size, seed)


def _mail_check(size: Size, seed: int) -> str:
    return _mail("check", size, seed)


def _mail_outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    rounds = BOXES * size.operations(ROUNDS)
    expected = {"delete": rounds, "receive": rounds, "read": 2 * rounds}
    _expect("mail: done", printed["measured"], expected)
    _expect("mail: found", printed["check"], {"read": BOXES * size.loaded(MESSAGES)})
    return _timed(printed["measured"], sum(_counts(printed["measured"]).values()))


def _counts(text: str) -> dict[str, int]:
    """Return what each operation was counted, by all processes together."""
    counts: dict[str, int] = {}
    for name, count in COUNT.findall(text):
        counts[name] = counts.get(name, 0) + int(count)
    return counts


def _expect(what: str, text: str, expected: Mapping[str, int]) -> None:
    counted = _counts(text)
    for name, count in expected.items():
        if counted.get(name) != count:
            raise WorkloadFailed(f"{what} {name} {counted.get(name)} times and not {count}")


def _timed(text: str, operations: int) -> Outcome:
    histogram: dict[tuple[float, float], int] = {}
    for low, high, count in TIME.findall(text):
        bucket = (float(low), float(high))
        histogram[bucket] = histogram.get(bucket, 0) + int(count)
    return Outcome(operations, percentiles(histogram))


def workloads() -> Iterable[Workload]:
    """Return smallfiles and mail."""
    yield Workload(
        name="smallfiles",
        summary="60,000 small files in 300 directories: list, read, create, rename, unlink",
        packages=(),
        programs=("smallfiles.c",),
        setup=_smallfiles_setup,
        measured=_smallfiles_measured,
        check=_smallfiles_check,
        outcome=_smallfiles_outcome,
        instructions=12e9,
    )
    yield Workload(
        name="mail",
        summary="mail: 16 servers receive, sync, read, change and delete young messages",
        packages=(),
        programs=("mail.c",),
        setup=_mail_setup,
        measured=_mail_measured,
        check=_mail_check,
        outcome=_mail_outcome,
        instructions=14e9,
    )
