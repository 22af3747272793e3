# SPDX-License-Identifier: GPL-2.0
"""RocksDB under db_bench, as in table 3 of KLOCs (ASPLOS 2021).

"1M keys and 16 client threads. The benchmark performs 50% random and
sequential writes and reads", in files of 4 MB. Here 12 clients overwrite at
random, read at random and read in sequence in one database, while 4 clients
write in sequence into a second; WAL, flushes and compaction are on, on ext4
with its journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from kloc.workload import Outcome, Size, Workload, WorkloadFailed, percentiles

KEYS = 600_000
VALUE = 1000
TABLE = 4 << 20
CLIENTS = 12
WRITERS = 4
# Bytes a second, while it is loaded: each memtable is flushed before the next is
# full. Otherwise how many of them share a table, and so the database that is
# measured, would depend on the policy.
LOAD_RATE = 40_000_000
# Operations of all clients together, of each kind: random and sequential writes
# and reads.
EACH = 7_000
# Blocks of 8 KiB, and a cache of them of RocksDB's default (32 MiB) over the
# machine's scale: what is read comes from the page cache.
BLOCK = 8 << 10
BLOCK_CACHE = 1 << 20
# Skew of the random reads: db_bench draws keys as exp(-SKEW x uniform).
SKEW = 12
BUCKET = re.compile(r"^[\[(]\s*(\d+),\s*(\d+) \]\s+(\d+) ", re.M)
DONE = re.compile(r"^(\w+)\s+:.*?(\d+) operations;(?:.*\((\d+) of (\d+) found\))?", re.M)


def _common(size: Size, seed: int, open_files: int) -> str:
    return (
        f"--key_size=16 --value_size={VALUE} --compression_type=none --bloom_bits=10 "
        f"--write_buffer_size={TABLE} --target_file_size_base={TABLE} "
        f"--max_bytes_for_level_base={8 * TABLE} --cache_size={BLOCK_CACHE} "
        f"--block_size={BLOCK} "
        # On one core a writer that spins keeps the one that it waits for from running.
        f"--enable_write_thread_adaptive_yield=false "
        f"--open_files={open_files} --histogram=1 --seed={seed + 1} --num={size.loaded(KEYS)}"
    )


def _setup(size: Size, seed: int, *, open_files: int) -> str:
    return f"""
db_bench --benchmarks=fillseq,waitforcompaction --db=/data/db --threads=1 \\
    --batch_size=100 --disable_wal=1 --benchmark_write_rate_limit={LOAD_RATE} \\
    {_common(size, 0, open_files)}
test "$(ls /data/db/*.sst | wc -l)" -ge {size.loaded(KEYS) * VALUE // (6 << 20)}
"""


def _measured(size: Size, seed: int, *, open_files: int) -> str:
    common = _common(size, seed, open_files)
    return f"""
db_bench --benchmarks=fillseq --db=/data/log {common} --threads={WRITERS} \\
    --writes={size.operations(EACH // WRITERS)} >/run/kloc/log 2>&1 &
db_bench --benchmarks=overwrite,readrandom,readseq --use_existing_db=1 --db=/data/db \\
    {common} --threads={CLIENTS} --read_random_exp_range={SKEW} \\
    --writes={size.operations(EACH // CLIENTS)} \\
    --reads={size.operations(EACH // CLIENTS)}
wait
cat /run/kloc/log
"""


def _check(size: Size, seed: int) -> str:
    """Verify every block's checksum, and count the keys by an iterator over both databases."""
    return """
for db in db log; do
    ldb --db=/data/$db checkconsistency
    printf 'keys %s ' $db
    ldb --db=/data/$db dump --count_only | sed -n 's/^Keys in range: //p'
done
"""


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    text = printed["measured"]
    done = {m[1]: int(m[2]) for m in DONE.finditer(text)}
    for benchmark in ("overwrite", "readrandom", "readseq", "fillseq"):
        if not done.get(benchmark):
            raise WorkloadFailed(f"rocksdb: db_bench did not finish {benchmark}")
    found = next(m for m in DONE.finditer(text) if m[1] == "readrandom")
    if found[3] != found[4]:
        raise WorkloadFailed(f"rocksdb: {found[3]} of {found[4]} keys were found, all exist")
    keys = dict(re.findall(r"^keys (\w+) (\d+)$", printed["check"], re.M))
    # All writers of the log write the same keys.
    expected = {"db": size.loaded(KEYS), "log": size.operations(EACH // WRITERS)}
    for name, count in expected.items():
        if int(keys.get(name, 0)) != count:
            raise WorkloadFailed(
                f"rocksdb: the database {name} holds {keys.get(name)} keys and not {count}"
            )
    histogram: dict[tuple[float, float], int] = {}
    for low, high, count in BUCKET.findall(text):
        bucket = (float(low) * 1000, float(high) * 1000)
        histogram[bucket] = histogram.get(bucket, 0) + int(count)
    return Outcome(sum(done.values()), percentiles(histogram))


def workloads() -> Iterable[Workload]:
    """Return rocksdb, and its variant that keeps every table file open."""
    for name, summary, open_files in (
        ("rocksdb", "RocksDB: db_bench, 16 clients, random and sequential reads and writes", 120),
        ("rocksdb-openfiles", "the same with every table file kept open", -1),
    ):
        yield Workload(
            name=name,
            summary=summary,
            packages=("rocksdb-tools",),
            setup=partial(_setup, open_files=open_files),
            measured=partial(_measured, open_files=open_files),
            check=_check,
            outcome=_outcome,
        )
