# SPDX-License-Identifier: GPL-2.0
"""RocksDB under db_bench, after table 3 of KLOCs (ASPLOS 2021).

The paper runs "1M keys and 16 client threads. The benchmark performs 50% random
and sequential writes and reads", in files of 4 MB.

- Prepared on the disk: 600,000 keys with values of 1000 bytes, written in sequence
  without a write-ahead log; compaction is done.
- Load: read all table files once, so that they are in page cache.
- Warm-up: the measured phase with a quarter of the operations, up to 4 times.
- Measured: 12 clients overwrite random keys, then read random keys, then read in
  sequence. Meanwhile 4 clients write in sequence into a second database. The
  write-ahead log, flushes and compaction are on. Both databases are on ext4 with
  its journal.
- Operations: each key written or read counts as one. Latencies are those of all
  four benchmarks together.
- Check: all block checksums of both databases are right. Each random read found its
  key, and the second database holds the right number of keys.

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

from kloc.measure.workload import Outcome, Size, Workload, WorkloadFailed, percentiles

KEYS = 600_000
VALUE = 1000
TABLE = 4 << 20
CLIENTS = 12
WRITERS = 4
# The rate at which the database is written, in bytes a second: low enough that each
# memtable is flushed before the next one is full. Otherwise several memtables are
# flushed to one table file.
LOAD_RATE = 40_000_000
# Operations of each of the four benchmarks, all its clients together.
EACH = 2_500
# Bytes of a block, and of RocksDB's block cache: its default (32 MiB) divided by the
# machine's scale, so that reads come from the page cache.
BLOCK = 8 << 10
BLOCK_CACHE = 1 << 20
# How much of each value is random: less than db_bench's default of 0.5, because each
# writer makes a megabyte of values as it starts, and that would be most of its work.
RANDOM_PART = 0.16
# The skew of random reads: db_bench draws keys as exp(-SKEW x uniform).
SKEW = 12
BUCKET = re.compile(r"^[\[(]\s*(\d+),\s*(\d+) \]\s+(\d+) ", re.M)
DATABASES = 2
VERIFIED = re.compile(r"^verifychecksum +:", re.M)
DONE = re.compile(r"^(\w+)\s+:.*?(\d+) operations;(?:.*\((\d+) of (\d+) found\))?", re.M)


def _common(size: Size, seed: str, open_files: int) -> str:
    return (
        f"--key_size=16 --value_size={VALUE} --compression_type=none --bloom_bits=10 "
        f"--write_buffer_size={TABLE} --target_file_size_base={TABLE} "
        f"--max_bytes_for_level_base={8 * TABLE} --cache_size={BLOCK_CACHE} "
        f"--block_size={BLOCK} --compression_ratio={RANDOM_PART} "
        f"--open_files={open_files} --histogram=1 --seed={seed} --num={size.loaded(KEYS)}"
    )


def _prepare(size: Size, seed: int) -> str:
    return f"""
db_bench --benchmarks=fillseq,waitforcompaction --db=/data/db --threads=1 \\
    --batch_size=100 --disable_wal=1 --benchmark_write_rate_limit={LOAD_RATE} \\
    {_common(size, "1", -1)}
test "$(ls /data/db/*.sst | wc -l)" -ge {size.loaded(KEYS) * VALUE // (6 << 20)}
"""


def _setup(size: Size, seed: int) -> str:
    return "cat /data/db/*.sst >/dev/null\n"


def _work(size: Size, seed: str, each: int, log: str, open_files: int) -> str:
    """Return the script of all clients: `each` operations of each benchmark, writing to `log`."""
    common = _common(size, seed, open_files)
    return f"""
db_bench --benchmarks=fillseq --db={log} {common} --threads={WRITERS} \\
    --writes={size.operations(each // WRITERS)} >/run/kloc/log 2>&1 &
db_bench --benchmarks=overwrite,readrandom,readseq --use_existing_db=1 --db=/data/db \\
    {common} --threads={CLIENTS} --read_random_exp_range={SKEW} \\
    --writes={size.operations(each // CLIENTS)} \\
    --reads={size.operations(each // CLIENTS)}
wait
"""


def _warm_up(size: Size, seed: int, *, open_files: int) -> str:
    """Return the script of a slice: a quarter of the operations, and a log that is deleted."""
    slice_seed = f"$(({seed} + 1000 * $1))"
    return _work(size, slice_seed, EACH // 4, "/data/warm", open_files) + "rm -r /data/warm\n"


def _measured(size: Size, seed: int, *, open_files: int) -> str:
    return _work(size, f"{seed + 1}", EACH, "/data/log", open_files) + "cat /run/kloc/log\n"


def _check(size: Size, seed: int) -> str:
    """Return the script that verifies the checksum of every block, and counts the log's keys."""
    return """
for db in db log; do
    ldb --db=/data/$db checkconsistency
    db_bench --benchmarks=verifychecksum --use_existing_db=1 --readonly=1 --db=/data/$db
done
printf 'keys '
ldb --db=/data/log dump --count_only | sed -n 's/^Keys in range: //p'
"""


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    text = printed["measured"]
    done = {m[1]: int(m[2]) for m in DONE.finditer(text)}
    for benchmark in ("overwrite", "readrandom", "readseq", "fillseq"):
        if not done.get(benchmark):
            raise WorkloadFailed(f"rocksdb: db_bench did not finish {benchmark}")
    found = next(m for m in DONE.finditer(text) if m[1] == "readrandom")
    if found[3] != found[4]:
        raise WorkloadFailed(f"rocksdb: {found[3]} of {found[4]} keys were found, but all exist")
    verified = len(VERIFIED.findall(printed["check"]))
    if verified != DATABASES:
        raise WorkloadFailed(f"rocksdb: {verified} of {DATABASES} databases were verified")
    keys = re.search(r"^keys (\d+)$", printed["check"], re.M)
    # All writers of the log write the same keys.
    written = size.operations(EACH // WRITERS)
    if keys is None or int(keys[1]) != written:
        held = keys[1] if keys else "no"
        raise WorkloadFailed(f"rocksdb: the log holds {held} keys and not {written}")
    histogram: dict[tuple[float, float], int] = {}
    for low, high, count in BUCKET.findall(text):
        bucket = (float(low) * 1000, float(high) * 1000)
        histogram[bucket] = histogram.get(bucket, 0) + int(count)
    return Outcome(sum(done.values()), percentiles(histogram))


def workloads() -> Iterable[Workload]:
    """Return rocksdb, and rocksdb-openfiles, which keeps every table file open."""
    for name, summary, open_files in (
        ("rocksdb", "RocksDB: db_bench, 16 clients, random and sequential reads and writes", 120),
        ("rocksdb-openfiles", "rocksdb with every table file kept open", -1),
    ):
        yield Workload(
            name=name,
            summary=summary,
            packages=("rocksdb-tools",),
            prepare=_prepare,
            setup=_setup,
            warm_up=partial(_warm_up, open_files=open_files),
            slices_max=4,
            measured=partial(_measured, open_files=open_files),
            check=_check,
            outcome=_outcome,
        )
