# SPDX-License-Identifier: GPL-2.0
"""RocksDB in a server of 16 clients, after table 3 of KLOCs (ASPLOS 2021).

The paper runs "1M keys and 16 client threads. The benchmark performs 50% random
and sequential writes and reads", in hundreds of files of 4 MB. It has 12.4 GB of
memory.

- Prepared on the disk: 150,000 keys with values of 4000 bytes in 8 databases, written
  in sequence without a write-ahead log; compaction is done. These are about 160 files.
- Load: read all table files once, so that they are in page cache, and start the
  server (workloads/src/rocksdb_clients.c). It runs until the end of the region.
- Warm-up: slices of an eighth of the measured operations.
- Measured: 16 threads read random keys, overwrite random keys, read 50 keys in
  sequence and overwrite 50 keys in sequence, a quarter of the operations each. Keys
  to read are skewed, keys to overwrite are not. The write-ahead log, flushes and
  compaction are on. The databases are on ext4 with its journal.
- Operations: each key written or read counts as one.
- Figures of their own: the 99th percentile of the latency of each kind of operations.
- Check: each read found its key, in no older version than was written before, and its
  block's checksum is right. At the end the databases are opened again and read
  completely: they hold the last version of all keys, and nothing else.

There are 8 databases, as with db_bench's --num_multi_db, because 16 clients that
write to one of them would leave half of the cores idle: a database has one log.
rocksdb keeps at most 272 files of all databases open, 10 of each database's not
tables; rocksdb-openfiles keeps all open.

rocksdb-steady is rocksdb with the same compaction in each measured phase: the databases
are overwritten at preparation until a write causes as much compaction as any later one,
each is in another phase of its cycle of flushes and compactions, and compaction keeps
up with the writers, which wait when a database has six files in level 0. In rocksdb,
all databases begin to compact at the same time, which a slower policy reaches in an
earlier slice or a later one.

Limits

- The kernel's share of time is below the paper's: see docs/workloads.md.
- The seed changes which keys the clients choose, not what is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from kloc.measure import served
from kloc.measure.workload import (
    SLICES_MAX,
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    histogram,
    histograms,
    percentiles,
)

KEYS = 150_000
DATABASES = 8
VALUE = 4000
TABLE = 4 << 20
CLIENTS = 16
# Operations a second of all clients together under all-fast.
RATE = 135_000
# Operations that a client does before it does something else.
TURN = 50
KINDS = ("read_random", "write_random", "read_sequence", "write_sequence")
# Bytes of a block, and of RocksDB's block cache: its default (32 MiB) divided by the
# machine's scale, so that reads come from the page cache.
BLOCK = 8 << 10
BLOCK_CACHE = 1 << 20
# The skew of reads: keys are drawn as exp(-SKEW x uniform).
SKEW = 6
# Table files that all databases together keep open; each of them keeps ten places for other files.
OPEN_FILES = DATABASES * 34


def _options(size: Size, open_files: int, steady: bool) -> str:
    return (
        f"db=/data/db databases={DATABASES} keys={size.loaded(KEYS)} value={VALUE} "
        f"memtable={TABLE} table={TABLE} level={8 * TABLE} block={BLOCK} cache={BLOCK_CACHE} "
        f"open_files={open_files}" + (" steady=1" if steady else "")
    )


def _prepare(size: Size, seed: int, *, steady: bool) -> str:
    return f"""
rocksdb_clients load {_options(size, 0, steady)}
test "$(ls /data/db/*/*.sst | wc -l)" -ge {size.loaded(KEYS) * VALUE // (6 << 20)}
"""


def _setup(size: Size, seed: int, *, open_files: int, steady: bool) -> str:
    """Return the script that starts the server and waits until it is ready."""
    server = (
        f"rocksdb_clients serve clients={CLIENTS} turn={TURN} skew={SKEW} "
        f"{_options(size, open_files, steady)}"
    )
    return f"""
cat /data/db/*/*.sst >/dev/null
{served.start(server)}"""


def _run(size: Size, seed: str) -> str:
    return served.ask(f"run {_turns(size)} {seed}", KINDS[0])


def _turns(size: Size) -> int:
    """Return the number of turns: as many of each kind."""
    return len(KINDS) * -(-size.operations_at(RATE) // (len(KINDS) * TURN))


def _warm_up(size: Size, seed: int) -> str:
    return _run(size.slice(), f"$(({seed} + {WARM_SEED} * $1))")


def _measured(size: Size, seed: int) -> str:
    return _run(size, f"{seed}")


def _check(size: Size, seed: int) -> str:
    return served.ask("stop", "keys")


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    measured = printed["measured"]
    each = _turns(size) // len(KINDS) * TURN
    for kind in KINDS:
        if f"{kind} {each}\n" not in measured:
            raise WorkloadFailed(f"rocksdb: not {each} times {kind}; it said: {measured[:200]}")
    times = histogram(measured)
    operations = len(KINDS) * each
    if sum(times.values()) != operations:
        raise WorkloadFailed(f"rocksdb: {sum(times.values())} of {operations} operations were done")
    if not re.search(rf"^keys {size.loaded(KEYS)}$", printed["check"], re.M):
        raise WorkloadFailed(
            f"rocksdb: not {size.loaded(KEYS)} keys at the end; it said: {printed['check'][:200]}"
        )
    apart = histograms(measured)
    figures = {
        f"{kind.replace('_', ' ')} p99, us": percentiles(apart[kind])["p99"] / 1000
        for kind in KINDS
    }
    return Outcome(operations, percentiles(times), figures)


def workloads() -> Iterable[Workload]:
    """Return rocksdb and its variants: all files open, and compaction in its steady state."""
    for name, summary, open_files, steady in (
        (
            "rocksdb",
            "RocksDB: 16 clients, random and sequential reads and writes",
            OPEN_FILES,
            False,
        ),
        ("rocksdb-openfiles", "rocksdb with every table file kept open", 0, False),
        ("rocksdb-steady", "rocksdb with as much compaction in each region", OPEN_FILES, True),
    ):
        yield Workload(
            name=name,
            summary=summary,
            packages=("rocksdb-tools",),
            programs=("rocksdb_clients.c",),
            not_native="its program does not compile with the RocksDB of Debian 12; with that of "
            "Debian 13, nobody has tried it there",
            prepare=partial(_prepare, steady=steady),
            setup=partial(_setup, open_files=open_files, steady=steady),
            warm_up=_warm_up,
            slices_max=SLICES_MAX,
            measured=_measured,
            check=_check,
            outcome=_outcome,
            # That of the variants was not measured.
            spread=0.084 if name == "rocksdb" else None,
        )
