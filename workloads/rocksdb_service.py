# SPDX-License-Identifier: GPL-2.0
"""RocksDB with the requests of a real service: rocksdb-mixgraph and rocksdb-backup.

rocksdb-mixgraph is db_bench's model of the key-value store of a social graph (Cao
et al., "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at
Facebook", FAST 2020). The requests are 85 % get, 14 % put and 1 % scan. Keys lie in
30 ranges, one of which gets three quarters of all requests; within each range some
keys are hotter than others. The parameters are those that the model's authors
publish as `prefix_dist` in RocksDB's wiki, page "Benchmarking tools".

rocksdb-backup is the same service during a backup: tar copies the 40 oldest table
files (160 MB) to a second place. It reads each once, and writes the copy once. It
reads them through hard links, which remain when compaction deletes a table file.

- Prepared on the disk: 550,000 keys with values of 1000 bytes, written in sequence
  without a write-ahead log; compaction is done.
- Load: read all table files once, so that they are in page cache.
- Warm-up: slices of an eighth of the requests, by the clients alone.
- Measured: 8 clients make requests. In rocksdb-backup the measured phase ends
  when both the clients and tar are done.
- Operations: each get, put and scan counts as one. The work of tar does not count.
- Check: the database holds the right number of keys and all its block checksums are
  right. Each read found its key. The copy equals the files.

Limits

- Values have 1000 bytes when they are loaded, instead of the model's 43: a database
  of this size with values of 43 bytes would take too long to load.
- The seed changes the requests, not what is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from kloc.measure.workload import (
    SLICES_MAX,
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    percentiles,
)

KEYS = 550_000
VALUE = 1000
TABLE = 4 << 20
# The rate at which the database is written, in bytes a second: see rocksdb.py.
LOAD_RATE = 40_000_000
# Bytes: RocksDB's default of 32 MiB divided by the machine's scale.
BLOCK_CACHE = 1 << 20
CLIENTS = 8
# Requests a second of all clients together under all-fast.
RATE = 160_000
# The number of table files that the backup copies: 160 MB.
OLD = 40
MODEL = (
    "--key_dist_a=0.002312 --key_dist_b=0.3467 --keyrange_num=30 "
    "--keyrange_dist_a=14.18 --keyrange_dist_b=-2.917 "
    "--keyrange_dist_c=0.0164 --keyrange_dist_d=-0.08082 "
    "--value_k=0.2615 --value_sigma=25.45 --iter_k=2.517 --iter_sigma=14.236 "
    "--mix_get_ratio=0.85 --mix_put_ratio=0.14 --mix_seek_ratio=0.01"
)
BUCKET = re.compile(r"^[\[(]\s*(\d+),\s*(\d+) \]\s+(\d+) ", re.M)
DONE = re.compile(r"^mixgraph\s+:.* (\d+) operations;.* reads (\d+) in (\d+) found", re.M)


def _common(size: Size) -> str:
    return (
        f"--db=/data/db --num={size.loaded(KEYS)} --key_size=48 --value_size={VALUE} "
        f"--compression_type=none --bloom_bits=10 --cache_size={BLOCK_CACHE} "
        f"--write_buffer_size={TABLE} --target_file_size_base={TABLE} "
        f"--max_bytes_for_level_base={8 * TABLE}"
    )


def _prepare(size: Size, seed: int) -> str:
    return f"""
db_bench --benchmarks=fillseq,waitforcompaction --threads=1 --batch_size=100 --disable_wal=1 \\
    --seed=1 --benchmark_write_rate_limit={LOAD_RATE} {_common(size)}
"""


def _setup(size: Size, seed: int, *, backup: bool) -> str:
    load = "cat /data/db/*.sst >/dev/null\n"
    link = f"""
mkdir /data/old
ln $(ls -tr /data/db/*.sst | head -n {size.loaded(OLD)}) /data/old
"""
    return load + (link if backup else "")


def _reads(size: Size) -> int:
    """Return the number of requests of a client."""
    return -(-size.operations_at(RATE) // CLIENTS)


def _serve(size: Size, seed: str) -> str:
    return (
        f"db_bench --benchmarks=mixgraph --use_existing_db=1 --threads={CLIENTS} --histogram=1 "
        f"--reads={_reads(size)} --seed={seed} {MODEL} {_common(size)}"
    )


def _warm_up(size: Size, seed: int) -> str:
    """Return the script of a slice, without a backup."""
    return _serve(size.slice(), f"$(({seed} + {WARM_SEED} * $1))") + "\n"


def _measured(size: Size, seed: int, *, backup: bool) -> str:
    serve = _serve(size, f"{seed + 1}")
    if not backup:
        return f"{serve}\n"
    return f"""
tar -cf /data/backup.tar -C /data old &
{serve}
wait $!
"""


def _check(size: Size, seed: int, *, backup: bool) -> str:
    """Return the script that checks the database, counts its keys and compares the copy.

    To count the keys, ldb reads the database and verifies the checksum of every block.
    """
    count = """
ldb --db=/data/db checkconsistency
printf 'keys '
ldb --db=/data/db dump --count_only | sed -n 's/^Keys in range: //p'
"""
    compare = """
tar -df /data/backup.tar -C /data
echo "copied $(tar -tf /data/backup.tar | grep -c '\\.sst$')"
"""
    return count + (compare if backup else "")


def _outcome(printed: Mapping[str, str], size: Size, *, name: str, backup: bool) -> Outcome:
    done = DONE.search(printed["measured"])
    if done is None:
        raise WorkloadFailed(f"{name}: db_bench did not finish")
    operations, found, read = (int(number) for number in done.groups())
    expected = CLIENTS * _reads(size)
    if operations != expected:
        raise WorkloadFailed(f"{name}: {operations} of {expected} operations were done")
    if found != read:
        raise WorkloadFailed(f"{name}: {found} of {read} keys were found, but all exist")
    keys = re.search(r"^keys (\d+)$", printed["check"], re.M)
    if keys is None or int(keys[1]) != size.loaded(KEYS):
        raise WorkloadFailed(f"{name}: the database does not hold {size.loaded(KEYS)} keys")
    if backup and f"copied {size.loaded(OLD)}\n" not in printed["check"]:
        raise WorkloadFailed(f"{name}: the copy does not hold {size.loaded(OLD)} files")
    histogram: dict[tuple[float, float], int] = {}
    for low, high, count in BUCKET.findall(printed["measured"]):
        bucket = (float(low) * 1000, float(high) * 1000)
        histogram[bucket] = histogram.get(bucket, 0) + int(count)
    return Outcome(operations, percentiles(histogram))


def workloads() -> Iterable[Workload]:
    """Return rocksdb-mixgraph and rocksdb-backup."""
    for name, summary, backup in (
        ("rocksdb-mixgraph", "RocksDB: db_bench's model of a social graph store", False),
        ("rocksdb-backup", "rocksdb-mixgraph while tar copies old table files", True),
    ):
        yield Workload(
            name=name,
            summary=summary,
            packages=("rocksdb-tools",),
            prepare=_prepare,
            setup=partial(_setup, backup=backup),
            measured=partial(_measured, backup=backup),
            warm_up=_warm_up,
            slices_max=SLICES_MAX,
            check=partial(_check, backup=backup),
            outcome=partial(_outcome, name=name, backup=backup),
            instructions=21e9,
            not_native="its check failed on Debian 12, and nobody knows why",
        )
