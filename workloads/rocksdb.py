# SPDX-License-Identifier: GPL-2.0
"""RocksDB in a server of 16 clients, after table 3 of KLOCs (ASPLOS 2021).

The paper runs "1M keys and 16 client threads. The benchmark performs 50% random
and sequential writes and reads", in files of 4 MB.

- Prepared on the disk: 600,000 keys with values of 1000 bytes, written in sequence
  without a write-ahead log; compaction is done.
- Load: read all table files once, so that they are in page cache, and start the
  server (workloads/src/rocksdb_clients.c). It runs until the end of the region.
- Warm-up: a quarter of the measured operations in each slice, up to 4 times.
- Measured: 12 threads overwrite random keys, read random keys and read 50 keys in
  sequence. Keys to read are skewed, keys to overwrite are not. Meanwhile 4 threads
  append keys to a second database. There are 2,500 operations of each of the four
  kinds. The write-ahead log, flushes and compaction are on. Both databases are on
  ext4 with its journal.
- Operations: each key written or read counts as one.
- Check: each value that was read belongs to its key, and its block's checksum is
  right. Both databases are consistent, and the second one holds all keys that were
  appended.

rocksdb keeps at most 120 table files open; rocksdb-openfiles keeps all open.

Limits

- The database has 600,000 keys instead of the paper's million, to fit into the
  machine.
- The seed changes which keys the clients choose, not what is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from kloc.measure.workload import (
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    histogram,
    percentiles,
)

KEYS = 600_000
VALUE = 1000
TABLE = 4 << 20
# Bytes of a memtable: few, so that each region has several flushes and a compaction.
MEMTABLE = 512 << 10
CLIENTS = 12
WRITERS = 4
# Operations of each of the four kinds, all clients together.
EACH = 2_500
# Keys that a client reads in sequence before it does something else.
SCAN = 50
# Bytes of a block, and of RocksDB's block cache: its default (32 MiB) divided by the
# machine's scale, so that reads come from the page cache.
BLOCK = 8 << 10
BLOCK_CACHE = 1 << 20
# The skew of reads: keys are drawn as exp(-SKEW x uniform).
SKEW = 12
KINDS = 4
ASK, ANSWER = "/run/kloc/ask", "/run/kloc/answer"


def _options(size: Size, memtable: int, open_files: int) -> str:
    return (
        f"db=/data/db keys={size.loaded(KEYS)} value={VALUE} memtable={memtable} table={TABLE} "
        f"level={8 * TABLE} block={BLOCK} cache={BLOCK_CACHE} open_files={open_files}"
    )


def _prepare(size: Size, seed: int) -> str:
    return f"""
rocksdb_clients load {_options(size, TABLE, 0)}
test "$(ls /data/db/*.sst | wc -l)" -ge {size.loaded(KEYS) * VALUE // (6 << 20)}
"""


def _setup(size: Size, seed: int, *, open_files: int) -> str:
    """Return the script that starts the server and waits until it is ready."""
    return f"""
cat /data/db/*.sst >/dev/null
mkfifo {ASK} {ANSWER}
rocksdb_clients serve log=/data/log ask={ASK} answer={ANSWER} clients={CLIENTS} \\
    writers={WRITERS} scan={SCAN} skew={SKEW} {_options(size, MEMTABLE, open_files)} &
{_answer("ready")}"""


def _answer(expected: str) -> str:
    """Return the script that prints the server's answer, and fails if it is an error."""
    return (
        f"cat {ANSWER} >/run/kloc/said\ncat /run/kloc/said\ngrep -q '^{expected}' /run/kloc/said\n"
    )


def _ask(command: str, expected: str) -> str:
    """Return the script that sends the server a command, and prints its answer."""
    return f'echo "{command}" >{ASK}\n{_answer(expected)}'


def _warm_up(size: Size, seed: int) -> str:
    """Return the script of a slice: a quarter of the measured operations."""
    return _ask(f"run {size.operations(EACH // 4)} $(({seed} + 1000 * $1))", "operations")


def _measured(size: Size, seed: int) -> str:
    return _ask(f"run {size.operations(EACH)} {seed}", "operations")


def _check(size: Size, seed: int) -> str:
    """Return the script that checks both databases, and counts the log's keys."""
    return f"""
{_ask("stop", "log")}
ldb --db=/data/db checkconsistency
ldb --db=/data/log checkconsistency
printf 'keys '
ldb --db=/data/log dump --count_only | sed -n 's/^Keys in range: //p'
"""


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    measured, check = printed["measured"], printed["check"]
    operations = KINDS * size.operations(EACH)
    if f"operations {operations}\n" not in measured:
        raise WorkloadFailed(f"rocksdb: the server answered: {measured[:200]}")
    times = histogram(measured)
    if sum(times.values()) != operations:
        raise WorkloadFailed(f"rocksdb: {sum(times.values())} of {operations} operations were done")
    appended = re.search(r"^log (\d+)$", check, re.M)
    keys = re.search(r"^keys (\d+)$", check, re.M)
    if appended is None or keys is None or appended[1] != keys[1]:
        raise WorkloadFailed(
            f"rocksdb: the log holds {keys[1] if keys else 'no'} keys, "
            f"and {appended[1] if appended else 'none'} were appended"
        )
    return Outcome(operations, percentiles(times))


def workloads() -> Iterable[Workload]:
    """Return rocksdb, and rocksdb-openfiles, which keeps every table file open."""
    for name, summary, open_files in (
        ("rocksdb", "RocksDB: 16 clients, random and sequential reads and writes", 120),
        ("rocksdb-openfiles", "rocksdb with every table file kept open", 0),
    ):
        yield Workload(
            name=name,
            summary=summary,
            packages=("rocksdb-tools",),
            programs=("rocksdb_clients.c",),
            prepare=_prepare,
            setup=partial(_setup, open_files=open_files),
            warm_up=_warm_up,
            slices_max=4,
            measured=_measured,
            check=_check,
            outcome=_outcome,
        )
