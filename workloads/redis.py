# SPDX-License-Identifier: GPL-2.0
"""Redis over loopback TCP, as in table 3 of KLOCs (ASPLOS 2021).

"In-memory key-value store that periodically checkpoints to disk": several
instances, 16 clients, 75 % SET and 25 % GET, pipelined, values of 1 KiB. Each
server is asked by four clients: SET and GET of the hot keys, SET and GET of
all; the first server writes a checkpoint while they run. The hot keys are
spread over each server's memory, since keys are loaded in shuffled order.

Measured on machine `tiered`, seed 1, share of all-fast: all-slow 0.37, tpp
0.61, oracle 0.82. The oracle is below 0.9, which would be useful: values move
as they are set, and the checkpoint and its copies touch all memory once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kloc.workload import Outcome, Size, Workload, WorkloadFailed, percentiles

SERVERS = 4
PORT = 7000
KEYS = 100_000
VALUE = 1024
PIPELINE = 16
# Operations of all clients together, and the part of them that is SET.
OPERATIONS = 48_000
SETS = 0.75
# Skew: this part of the operations goes to this part of the keys.
HOT_OPERATIONS = 0.9
HOT_KEYS = 1 / 16
# A stride that has no factor in common with any number of keys used.
SHUFFLE = 15_485_863
DONE = re.compile(r"^\s+(\d+) requests completed in", re.M)
LATENCY = re.compile(r"^[\d.]+% <= ([\d.]+) milliseconds \(cumulative count (\d+)\)$", re.M)


def _setup(size: Size, seed: int) -> str:
    keys = size.loaded(KEYS)
    return f"""
cd /data
for i in $(seq {SERVERS}); do
    mkdir -p /data/$i
    redis-server --port $(({PORT} + i)) --dir /data/$i --save "" --rdbcompression no \\
        --daemonize yes --logfile /data/$i/log --pidfile /run/redis$i.pid
done
sleep 1
for i in $(seq {SERVERS}); do
    awk 'BEGIN {{
        value = sprintf("%{VALUE}s", ""); gsub(/ /, "v", value)
        for (i = 0; i < {keys}; i++)
            printf "*3\\r\\n$3\\r\\nSET\\r\\n$16\\r\\nkey:%012d\\r\\n${VALUE}\\r\\n%s\\r\\n",
                (i * {SHUFFLE}) % {keys}, value
    }}' | redis-cli -p $(({PORT} + i)) --pipe &
    load="$load $!"
done
for one in $load; do wait $one; done
for i in $(seq {SERVERS}); do
    test "$(redis-cli -p $(({PORT} + i)) dbsize)" = {keys}
done
"""


def _measured(size: Size, seed: int) -> str:
    keys = size.loaded(KEYS)
    clients = []
    for name, part in (("set", SETS), ("get", 1 - SETS)):
        for temperature, share, span in (
            ("hot", HOT_OPERATIONS, max(1, round(keys * HOT_KEYS))),
            ("all", 1 - HOT_OPERATIONS, keys),
        ):
            count = max(PIPELINE, size.operations(round(OPERATIONS / SERVERS * part * share)))
            clients.append(
                f"redis-benchmark -p $(({PORT} + i)) -t {name} -n {count} -r {span} -c 2 "
                f"-P {PIPELINE} -d {VALUE} --seed $(({seed * 100} + i)) "
                f">/run/kloc/{name}.{temperature}.$i 2>&1 &\n"
                f'clients="$clients $!"'
            )
    body = "\n".join(clients)
    return f"""
redis-cli -p {PORT + 1} bgsave
for i in $(seq {SERVERS}); do
{body}
done
for one in $clients; do wait $one; done
# A finished checkpoint is renamed to its name.
while [ ! -e /data/1/dump.rdb ]; do sleep 0.02; done
"""


def _check(size: Size, seed: int) -> str:
    return f"""
for i in $(seq {SERVERS}); do
    cat /run/kloc/[sg]et.*.$i
    port=$(({PORT} + i))
    echo "keys $(redis-cli -p $port dbsize)"
    echo "errors $(redis-cli -p $port info errorstats | grep -c ^errorstat || true)"
    echo "value $(redis-cli -p $port strlen key:000000000007)"
done
redis-cli -p {PORT + 1} info persistence | grep ^rdb_last_bgsave_status
redis-check-rdb /data/1/dump.rdb | grep -E 'RDB looks OK|keys read'
"""


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    text = printed["check"]
    keys = size.loaded(KEYS)
    expected = {
        f"keys {keys}": SERVERS,
        "errors 0": SERVERS,
        f"value {VALUE}": SERVERS,
        "RDB looks OK": 1,
    }
    for line, times in expected.items():
        if text.count(line) < times:
            raise WorkloadFailed(
                f"redis: the check lacks '{line}' ({text.count(line)} of {times} times)"
            )
    if f"] {keys} keys read" not in text and f"{keys} keys read" not in text:
        raise WorkloadFailed(f"redis: the checkpoint does not hold {keys} keys")
    operations = sum(int(count) for count in DONE.findall(text))
    return Outcome(operations, percentiles(_latencies(text)))


def _latencies(text: str) -> dict[tuple[float, float], int]:
    """Add up the clients' percentile lines, as counts between one line and the next, in ns."""
    histogram: dict[tuple[float, float], int] = {}
    for report in text.split("Latency by percentile distribution:")[1:]:
        low, before = 0.0, 0
        for ms, cumulative in LATENCY.findall(report.split("Cumulative distribution")[0]):
            high, count = float(ms) * 1e6, int(cumulative) - before
            if count and high > low:
                histogram[low, high] = histogram.get((low, high), 0) + count
            low, before = high, int(cumulative)
    return histogram


def workloads() -> Iterable[Workload]:
    """Return redis."""
    yield Workload(
        name="redis",
        summary="Redis: 4 servers, 16 clients over TCP, 75 % SET, 25 % GET, a checkpoint to disk",
        packages=("redis-server", "redis-tools"),
        setup=_setup,
        measured=_measured,
        check=_check,
        outcome=_outcome,
    )
