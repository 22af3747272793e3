# SPDX-License-Identifier: GPL-2.0
"""Redis over loopback TCP, as in table 3 of KLOCs (ASPLOS 2021).

"In-memory key-value store that periodically checkpoints to disk": several
servers, 75 % SET and 25 % GET, pipelined, values of 1 KiB. Each server is asked
by four clients: SET and GET of its hot keys, SET and GET of all; the first
server writes a checkpoint while they run. The hot keys are spread over each
server's memory, since keys are loaded in shuffled order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import ceil

from kloc.workload import Outcome, Size, Workload, WorkloadFailed, percentiles

SERVERS = 8
# Of each server: see _clients().
CLIENTS = 4
PORT = 7000
KEYS = 50_000
VALUE = 1024
PIPELINE = 16
# Operations of all clients together, and the part of them that is SET.
OPERATIONS = 120_000
SETS = 0.75
# How long the checkpoint may take after the last operation.
CHECKPOINT_SECONDS = 100
# Skew: this part of the operations goes to this part of the keys.
HOT_OPERATIONS = 0.95
HOT_KEYS = 1 / 20
# A stride that has no factor in common with any number of keys used.
SHUFFLE = 15_485_863
CALLS = re.compile(r"^cmdstat_(?:set|get):calls=(\d+),", re.M)
# A client's requests, and its latencies in ms: least, p50, p95, p99, most.
CLIENT = re.compile(
    r'^requests (\d+)$\s^"test".*$\s^"[SG]ET","[\d.]+","[\d.]+"'
    r',"([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)"$',
    re.M,
)
QUANTILES = (0.0, 0.5, 0.95, 0.99, 1.0)


def _clients(size: Size) -> Iterator[tuple[str, int, int]]:
    """Yield what each client of a server does: its operation, how often, on how many keys."""
    keys = size.loaded(KEYS)
    for operation, part in (("set", SETS), ("get", 1 - SETS)):
        for share, span in (
            (HOT_OPERATIONS, max(1, round(keys * HOT_KEYS))),
            (1 - HOT_OPERATIONS, keys),
        ):
            count = size.operations(round(OPERATIONS / SERVERS * part * share))
            # Whole pipelines: of any other number redis-benchmark does a few more than it was
            # asked, and gives up ("All clients disconnected") where its timer sees it at that.
            yield operation, ceil(count / PIPELINE) * PIPELINE, span


def _setup(size: Size, seed: int) -> str:
    keys = size.loaded(KEYS)
    return f"""
for i in $(seq {SERVERS}); do
    mkdir -p /data/$i
    # --hz: ten times a second each server would bring its statistics up to date, 1 % of its time.
    redis-server --port $(({PORT} + i)) --dir /data/$i --save "" --rdbcompression no --hz 1 \\
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
    redis-cli -p $(({PORT} + i)) config resetstat
done
"""


def _start(size: Size, seed: int) -> str:
    """Start the clients: they connect, and wait, since the servers are stopped."""
    clients = "\n".join(
        f"    client {number} {operation} {count} {span}"
        for number, (operation, count, span) in enumerate(_clients(size))
    )
    return f"""
client() {{ # NUMBER OPERATION COUNT KEYS
    (
        echo requests $3
        # --csv: without it each client spends 3 % of its time on printing its mean so far.
        said=ended
        redis-benchmark --csv -p $(({PORT} + i)) -t $2 -n $3 -r $4 -c 1 \\
            -P {PIPELINE} -d {VALUE} --seed $(({seed * 100} + i)) || said=$i.$1
        echo $said >&3
    ) >/run/kloc/client.$i.$1 2>&1 &
}}
mkfifo /run/kloc/ended
exec 3<>/run/kloc/ended
kill -STOP $(cat /run/redis*.pid)
redis-cli -p {PORT + 1} bgsave >/dev/null &
for i in $(seq {SERVERS}); do
{clients}
done
sleep 1
"""


def _measured(size: Size, seed: int) -> str:
    return f"""
exec 3<>/run/kloc/ended
kill -CONT $(cat /run/redis*.pid)
for one in $(seq {SERVERS * len(list(_clients(size)))}); do
    read said <&3
    test $said = ended || {{ echo "client $said failed:"; cat /run/kloc/client.$said; exit 1; }}
done
# A finished checkpoint is renamed to its name.
perl -e 'for (1 .. {CHECKPOINT_SECONDS * 200}) {{
    exit if -e "/data/1/dump.rdb"; select undef, undef, undef, 0.005
}}
die "no checkpoint in {CHECKPOINT_SECONDS} s: ", `tail -n 20 /data/1/log`'
"""


def _check(size: Size, seed: int) -> str:
    return f"""
cat /run/kloc/client.*
for i in $(seq {SERVERS}); do
    port=$(({PORT} + i))
    redis-cli -p $port info commandstats | tr -d '\\r' | grep -E '^cmdstat_(set|get):'
    echo "keys $(redis-cli -p $port dbsize)"
    echo "errors $(redis-cli -p $port info errorstats | grep -c ^errorstat || true)"
    echo "value $(redis-cli -p $port strlen key:000000000007)"
done
redis-check-rdb /data/1/dump.rdb | grep -E 'RDB looks OK|keys read'
"""


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    text = printed["check"]
    keys = size.loaded(KEYS)
    asked = SERVERS * sum(count for _, count, _ in _clients(size))
    expected = {
        f"keys {keys}": SERVERS,
        "errors 0": SERVERS,
        f"value {VALUE}": SERVERS,
        "RDB looks OK": 1,
        f" {keys} keys read": 1,
    }
    for line, times in expected.items():
        if text.count(line) < times:
            raise WorkloadFailed(
                f"redis: the check lacks '{line}' ({text.count(line)} of {times} times)"
            )
    operations = sum(int(count) for count in CALLS.findall(text))
    if operations < asked:
        raise WorkloadFailed(f"redis: the servers did {operations} of {asked} operations")
    return Outcome(operations, percentiles(_latencies(text)))


def _latencies(text: str) -> dict[tuple[float, float], float]:
    """Add up the clients' latencies, as requests by range of ns.

    A client tells some percentiles; its requests are spread evenly between them.
    """
    import numpy as np

    clients = [
        (int(requests), np.array([float(each) * 1e6 for each in latencies]))
        for requests, *latencies in CLIENT.findall(text)
    ]
    if len(clients) != SERVERS * CLIENTS:
        raise WorkloadFailed(
            f"redis: {len(clients)} of {SERVERS * CLIENTS} clients told their latencies"
        )
    edges = np.unique([latencies for _, latencies in clients])
    below = sum(requests * np.interp(edges, at, QUANTILES) for requests, at in clients)
    return dict(zip(pairwise(edges.tolist()), np.diff(below).tolist(), strict=True))


def workloads() -> Iterable[Workload]:
    """Return redis."""
    yield Workload(
        name="redis",
        summary="Redis: 8 servers, 32 clients over TCP, 75 % SET, 25 % GET, a checkpoint to disk",
        packages=("redis-server", "redis-tools"),
        setup=_setup,
        start=_start,
        measured=_measured,
        check=_check,
        outcome=_outcome,
    )
