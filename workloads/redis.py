# SPDX-License-Identifier: GPL-2.0
"""Redis over loopback TCP, after table 3 of KLOCs (ASPLOS 2021).

The paper's Redis is an "In-memory key-value store that periodically checkpoints to
disk".

- Load: start 8 servers and write 50,000 keys with values of 1 KiB to each. The keys
  are written in shuffled order, so that hot keys are spread over a server's memory.
- Warm-up: each server has four clients as in the measured phase, with a quarter of
  the requests; the first one writes a checkpoint. Up to 4 times.
- Start, not measured: stop the servers (SIGSTOP), ask the first one for a checkpoint,
  and start 32 clients, which connect and wait for their server.
- Measured: the servers continue. Each has four clients, with pipelines of 16 requests:
  SET of hot keys, SET of all keys, GET of hot keys and GET of all keys. There are
  about 60,000 requests. 75 % of them are SET, and 95 % go to the hot keys, which are
  5 % of all keys. Meanwhile the first server writes its checkpoint. The phase ends
  when all clients are done and the checkpoint is complete.
- Operations: each SET and GET that a server executed counts as one.
- Check: no server lost a key or reported an error, and the checkpoint is readable
  and holds all keys.

Limits

- Percentiles of latencies are interpolated: see _latencies().
- The seed changes which keys the clients choose, not what is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import ceil

from kloc.measure.workload import Outcome, Size, Workload, WorkloadFailed, percentiles

SERVERS = 8
# Clients of each server: see _clients().
CLIENTS = 4
PORT = 7000
KEYS = 50_000
VALUE = 1024
PIPELINE = 16
# Operations of all clients together, and the fraction of them that is SET.
OPERATIONS = 60_000
SETS = 0.75
# How many seconds the checkpoint may take after the last operation.
CHECKPOINT_SECONDS = 100
# Skew: this fraction of the operations goes to this fraction of the keys.
HOT_OPERATIONS = 0.95
HOT_KEYS = 1 / 20
# The stride that shuffles the keys. It shares no factor with any number of keys used,
# so that each key is written once.
SHUFFLE = 15_485_863
# The script that loads a server. Its arguments are the number of keys, the stride and
# the length of values. Clients that write the same keys take four times as long.
LOAD = """
local keys, value = ARGV[1], string.rep("v", ARGV[3])
for i = 0, keys - 1 do
    redis.call("SET", string.format("key:%012d", i * ARGV[2] % keys), value)
end
"""
CALLS = re.compile(r"^cmdstat_(?:set|get):calls=(\d+),", re.M)
# A client's requests, and its latencies in ms: minimum, p50, p95, p99, maximum.
CLIENT = re.compile(
    r'^requests (\d+)$\s^"test".*$\s^"[SG]ET","[\d.]+","[\d.]+"'
    r',"([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)"$',
    re.M,
)
QUANTILES = (0.0, 0.5, 0.95, 0.99, 1.0)


def _clients(size: Size, share: float = 1) -> Iterator[tuple[str, int, int]]:
    """Yield (operation, requests, keys to choose from) for each client of a server.

    `share` is that of the measured requests.
    """
    keys = size.loaded(KEYS)
    for operation, part in (("set", SETS), ("get", 1 - SETS)):
        for weight, span in (
            (HOT_OPERATIONS, max(1, round(keys * HOT_KEYS))),
            (1 - HOT_OPERATIONS, keys),
        ):
            count = size.operations(round(OPERATIONS / SERVERS * part * weight * share))
            # Complete pipelines only: with any other number redis-benchmark sends a few more
            # requests than asked, and if its timer fires while it does, it exits with "All
            # clients disconnected".
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
    redis-cli -p $(({PORT} + i)) eval '{LOAD}' 0 {keys} {SHUFFLE} {VALUE} &
    load="$load $!"
done
for one in $load; do wait $one; done
for i in $(seq {SERVERS}); do
    test "$(redis-cli -p $(({PORT} + i)) dbsize)" = {keys}
done
"""


def _calls(size: Size, share: float = 1) -> str:
    """Return calls of the script's function `client`, for one server."""
    return "\n".join(
        f"    client {number} {operation} {count} {span}"
        for number, (operation, count, span) in enumerate(_clients(size, share))
    )


def _client(seed: str) -> str:
    """Return the command of the client of server $i: OPERATION $2, COUNT $3, KEYS $4."""
    # --csv: without it each client spends 3 % of its time on printing its mean so far.
    return (
        f"redis-benchmark --csv -p $(({PORT} + i)) -t $2 -n $3 -r $4 -c 1 "
        f"-P {PIPELINE} -d {VALUE} --seed $(({seed} * 100 + i))"
    )


def _warm_up(size: Size, seed: int) -> str:
    """Return the script of a slice: a quarter of the measured requests, and a checkpoint."""
    return f"""
client() {{ # NUMBER OPERATION COUNT KEYS
    {_client(f"({seed} + 1000 * slice)")} >/run/kloc/warm.$i.$1 2>&1 &
    clients="$clients $!"
}}
slice=$1
redis-cli -p {PORT + 1} bgsave
for i in $(seq {SERVERS}); do
{_calls(size, 0.25)}
done
for one in $clients; do wait $one; done
while redis-cli -p {PORT + 1} info persistence | grep -q bgsave_in_progress:1; do sleep 0.01; done
rm /data/1/dump.rdb
"""


def _start(size: Size, seed: int) -> str:
    """Return the script that stops the servers and starts the clients, which connect and wait."""
    return f"""
client() {{ # NUMBER OPERATION COUNT KEYS
    (
        echo requests $3
        said=ended
        {_client(f"{seed}")} || said=$i.$1
        echo $said >&3
    ) >/run/kloc/client.$i.$1 2>&1 &
}}
mkfifo /run/kloc/ended
exec 3<>/run/kloc/ended
for i in $(seq {SERVERS}); do
    redis-cli -p $(({PORT} + i)) config resetstat
done
kill -STOP $(cat /run/redis*.pid)
redis-cli -p {PORT + 1} bgsave >/dev/null &
for i in $(seq {SERVERS}); do
{_calls(size)}
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
                f"redis: the check printed '{line}' {text.count(line)} times, expected {times}"
            )
    operations = sum(int(count) for count in CALLS.findall(text))
    if operations < asked:
        raise WorkloadFailed(f"redis: the servers did {operations} of {asked} operations")
    return Outcome(operations, percentiles(_latencies(text)))


def _latencies(text: str) -> dict[tuple[float, float], float]:
    """Return a histogram {(from, to): requests} of all clients' latencies, in ns.

    A client reports five quantiles only (QUANTILES). Its requests are assumed to be spread
    evenly between two of them. Raises WorkloadFailed if the report of a client is missing.
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
        summary="Redis: 8 servers, 32 clients over TCP, 75 % SET, 25 % GET, one checkpoint to disk",
        packages=("redis-server", "redis-tools"),
        setup=_setup,
        warm_up=_warm_up,
        slices_max=4,
        start=_start,
        measured=_measured,
        check=_check,
        outcome=_outcome,
    )
