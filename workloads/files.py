# SPDX-License-Identifier: GPL-2.0
"""Small files on ext4: the workloads smallfiles and mail, by C programs of our own.

With tens of thousands of small files, inodes, dentries, page cache and journal
fill fast memory, and application memory is small. Debian's benchmarks of small
files lack operations: fsmark never reads; postmark does not rename, list or sync.

The contents of a file follow from its name, and every read compares them. The
check, after the measured phase, reads every file that must exist by then.

smallfiles (workloads/src/smallfiles.c) models work in a source tree, a mail
directory or a thumbnail cache.

- Load: create 60,000 files in 300 directories, one file in each directory in
  turn. A file has 1 byte to 8 KiB, 4 KiB on average.
- Measured: 4 processes, each with a quarter of the directories, run sessions.
  A session draws a directory at random, lists it with a stat of every
  file, reads all 200 files, creates 50 files under temporary names, renames
  them, unlinks the 50 oldest files, and reads all files again.
- Operations: each list, stat, read, create, rename and unlink counts as one.

mail (workloads/src/mail.c) models a mail server, after Filebench's Varmail.

- Load: write 3,000 messages to each of 16 mail boxes. A message has 8 bytes to
  16 KiB, 8 KiB on average.
- Measured: 16 processes, one for each box, run rounds. A round deletes a message;
  receives one (create, write, fsync); reads one, appends 1 KiB to it and syncs it; and
  reads one. The messages that it deletes, reads and appends to are drawn from the 256
  recent ones of the box. Older messages are kept and never read.
- Operations: each delete, receive, append and read counts as one. A message that
  was appended to before is read and not appended to again.

A slice of the warm-up of both does an eighth of the measured sessions or rounds.

Limits

- The seed changes which directories and messages are drawn, not what is loaded.
- The latency of a list includes the stats of its files, which count as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kloc.measure.workload import (
    SLICES_MAX,
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    histogram,
    percentiles,
)

DIRECTORIES = 300
FILES = 200
PROCESSES = 4
# Sessions and rounds a second of all processes together under all-fast.
SESSIONS = 720
BOXES = 16
MESSAGES = 3_000
ROUNDS = 14_000
COUNT = re.compile(r"^([a-z]+) (\d+)$", re.M)


def _setup(program: str, amount: str) -> str:
    """Return the script that loads the files of a program, before any run."""
    files = f"/data/{program}"
    return f"mkdir {files}\ncd {files}\n{program} load {amount}\n>{_runs(program)}\n"


def _run(program: str, amount: str, count: int, seed: str) -> str:
    """Return the script of a run of `count` sessions or rounds, which continues from those before.

    A file has the runs until now: the program repeats their random draws.
    """
    runs, run = _runs(program), f"{count} {seed}"
    return f"cd /data/{program}\n{program} run {amount} $(cat {runs}) {run}\necho {run} >>{runs}\n"


def _check(program: str, amount: str) -> str:
    """Return the script that reads and verifies all files as the runs left them."""
    return f"cd /data/{program}\n{program} check {amount} $(cat {_runs(program)})\n"


def _runs(program: str) -> str:
    return f"/run/kloc/{program}.runs"


def _slice_seed(seed: int) -> str:
    """Return the seed of a slice of the warm-up, for its script."""
    return f"$(({seed} + {WARM_SEED} * $1))"


def _files(size: Size) -> str:
    return f"{size.loaded(DIRECTORIES)} {FILES} {PROCESSES}"


def _sessions(size: Size) -> int:
    """Return the measured sessions of a process."""
    return -(-size.operations_at(SESSIONS) // PROCESSES)


def _rounds(size: Size) -> int:
    """Return the measured rounds of a mail box."""
    return -(-size.operations_at(ROUNDS) // BOXES)


def _smallfiles_setup(size: Size, seed: int) -> str:
    return _setup("smallfiles", _files(size))


def _smallfiles_warm_up(size: Size, seed: int) -> str:
    return _run("smallfiles", _files(size), _sessions(size.slice()), _slice_seed(seed))


def _smallfiles_measured(size: Size, seed: int) -> str:
    return _run("smallfiles", _files(size), _sessions(size), f"{seed}")


def _smallfiles_check(size: Size, seed: int) -> str:
    return _check("smallfiles", _files(size))


def _smallfiles_outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    sessions, changed = PROCESSES * _sessions(size), FILES // 4
    expected = {
        "list": sessions,
        "stat": sessions * FILES,
        "read": sessions * FILES * 2,
        "create": sessions * changed,
        "rename": sessions * changed,
        "unlink": sessions * changed,
    }
    _expect("smallfiles: the measured phase is incomplete: done", printed["measured"], expected)
    files = size.loaded(DIRECTORIES) * FILES
    _expect("smallfiles: the check failed: found", printed["check"], {"stat": files, "read": files})
    return _timed(printed["measured"], sum(expected.values()))


def _mailboxes(size: Size) -> str:
    return f"{BOXES} {size.loaded(MESSAGES)}"


def _mail_setup(size: Size, seed: int) -> str:
    return _setup("mail", _mailboxes(size))


def _mail_warm_up(size: Size, seed: int) -> str:
    return _run("mail", _mailboxes(size), _rounds(size.slice()), _slice_seed(seed))


def _mail_measured(size: Size, seed: int) -> str:
    return _run("mail", _mailboxes(size), _rounds(size), f"{seed}")


def _mail_check(size: Size, seed: int) -> str:
    return _check("mail", _mailboxes(size))


def _mail_outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    rounds = BOXES * _rounds(size)
    expected = {"delete": rounds, "receive": rounds, "read": 2 * rounds}
    _expect("mail: the measured phase is incomplete: done", printed["measured"], expected)
    messages = BOXES * size.loaded(MESSAGES)
    _expect("mail: the check failed: found", printed["check"], {"read": messages})
    return _timed(printed["measured"], sum(_counts(printed["measured"]).values()))


def _counts(text: str) -> dict[str, int]:
    """Return how often each operation was done, added up over all processes."""
    counts: dict[str, int] = {}
    for name, count in COUNT.findall(text):
        counts[name] = counts.get(name, 0) + int(count)
    return counts


def _expect(what: str, text: str, expected: Mapping[str, int]) -> None:
    """Raise WorkloadFailed, beginning with `what`, unless `text` has the expected counts."""
    counted = _counts(text)
    for name, count in expected.items():
        if counted.get(name) != count:
            raise WorkloadFailed(f"{what} {name} {counted.get(name)} times and not {count}")


def _timed(text: str, operations: int) -> Outcome:
    """Return the outcome of `operations`, with percentiles of the latencies in `text`."""
    return Outcome(operations, percentiles(histogram(text)))


def workloads() -> Iterable[Workload]:
    """Return smallfiles and mail."""
    yield Workload(
        name="smallfiles",
        summary="60,000 small files in 300 directories: list, stat, read, create, rename, unlink",
        packages=(),
        programs=("smallfiles.c",),
        setup=_smallfiles_setup,
        warm_up=_smallfiles_warm_up,
        slices_max=SLICES_MAX,
        measured=_smallfiles_measured,
        check=_smallfiles_check,
        outcome=_smallfiles_outcome,
        instructions=12e9,
        not_native="",
    )
    yield Workload(
        name="mail",
        summary="mail: 16 processes receive, sync, read, append to and delete recent messages",
        packages=(),
        programs=("mail.c",),
        setup=_mail_setup,
        warm_up=_mail_warm_up,
        slices_max=SLICES_MAX,
        measured=_mail_measured,
        check=_mail_check,
        outcome=_mail_outcome,
        instructions=14e9,
        not_native="",
    )
