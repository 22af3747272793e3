# SPDX-License-Identifier: GPL-2.0
"""Redis over loopback TCP, after table 3 of KLOCs (ASPLOS 2021).

The paper's Redis is an "In-memory key-value store that periodically checkpoints to
disk".

- Load: start 8 servers and let each populate itself with 50,000 keys with values of
  1 KiB. Hot keys are spread over a server's memory.
- Warm-up: slices of an eighth of the measured requests. In the first slice the first
  server begins to write a checkpoint. If it is not complete after the last slice, the
  clients go on with such requests until it is: the servers are never idle before the
  measured phase.
- Measured: each server has four clients, with pipelines of 16 requests (workloads/
  src/redis_clients.c). 75 % of the requests are SET and the others GET; 95 % are for
  the hot keys, which are 5 % of all keys. Meanwhile the first server writes its
  checkpoint. The phase ends when all clients are done: of the checkpoint, the part
  that is left then is not measured.
- Operations: each SET and GET counts as one. Its latency is that of its pipeline.
- Check: each reply was right. No server lost a key or reported an error, and the
  checkpoint is readable and holds all keys.

redis-get is redis with 75 % GET and 25 % SET (KLOCs, earlier draft, Figure 10). Each of its
pipelines has requests of one kind, so that their latencies are known apart (`GET p99, us`,
`SET p99, us`). Its figures are no measure for those of redis, whose pipelines are mixed.

By default Redis asks the kernel not to give it huge pages. The servers of redis-huge do
not (disable-thp no), so that they have them where the kernel's setting is `always`.

Limits

- The seed changes which keys the clients choose, not what is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

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

SERVERS = 8
# Clients of each server.
CLIENTS = 4
PORT = 7000
KEYS = 50_000
VALUE = 1024
PIPELINE = 16
# Requests a second of all clients together under all-fast, and how many of 100 are SET.
RATE = 900_000
SETS = 75
# The same of redis-get.
GET_RATE, GET_SETS = 1_000_000, 25
# The hot keys, as a fraction of all keys.
HOT = 1 / 20
DUMP = "/data/0/dump.rdb"
# How often a second the servers do their housekeeping, in which they notice the end of a
# checkpoint: often until the measured phase begins. In that, WARM_HZ would be 1 % of their time.
WARM_HZ, HZ = 10, 1


def _clients(mode: str, options: str = "") -> str:
    """Return a command of the clients of all servers: see workloads/src/redis_clients.c."""
    return f"redis_clients {mode} servers={SERVERS} port={PORT} {options}\n"


def _setup(size: Size, seed: int, *, options: str = "") -> str:
    return f"""
for i in $(seq 0 {SERVERS - 1}); do
    mkdir -p /data/$i
    redis-server --port $(({PORT} + i)) --dir /data/$i --save "" --rdbcompression no \\
        --hz {WARM_HZ} --enable-debug-command local --daemonize yes --logfile /data/$i/log{options}
done
sleep 1
{_clients("load", f"keys={size.loaded(KEYS)} value={VALUE}")}"""


@dataclass(frozen=True)
class Requests:
    """What requests are like: `sets` of 100 are SET.

    `rate` is how many a second all clients together make under all-fast. If `apart`, a pipeline has
    requests of one kind.
    """

    sets: int
    rate: float
    apart: bool = False

    def options(self, size: Size, seed: str) -> str:
        """Return the options of the clients that say this."""
        keys = size.loaded(KEYS)
        return (
            f"keys={keys} value={VALUE} clients={CLIENTS} pipeline={PIPELINE} sets={self.sets} "
            f"hot={round(keys * HOT)} seed={seed}{' apart=1' if self.apart else ''}"
        )

    def run(self, size: Size, seed: str, dump: str) -> str:
        """Return the script of a size's requests. `dump` is an option of the clients."""
        return _clients("run", f"{self.options(size, seed)} requests={self.count(size)} {dump}")

    def count(self, size: Size) -> int:
        """Return the number of requests, in complete pipelines."""
        return -(-size.operations_at(self.rate) // PIPELINE) * PIPELINE

    def warm_up(self, size: Size, seed: int) -> str:
        """Return the script of a slice. The first one begins a checkpoint."""
        run = self.run(size.slice(), f"$(({seed} + {WARM_SEED} * $1))", "$dump")
        return f"dump=\n[ $1 != 1 ] || dump=dump={DUMP}\n{run}"

    def start(self, size: Size, seed: int) -> str:
        """Return the script that goes on as the warm-up did until its checkpoint is complete."""
        # Slices have the numbers from 1 on.
        return _clients("until_saved", f"hz={HZ} {self.options(size, f'{seed}')}")

    def measured(self, size: Size, seed: int) -> str:
        """Return the script of the region."""
        return self.run(size, f"{seed}", f"dump={DUMP}")

    def outcome(self, printed: Mapping[str, str], size: Size) -> Outcome:
        """Return the requests; raise WorkloadFailed unless all came, and were right."""
        keys = size.loaded(KEYS)
        expected = {
            f"keys {keys}": SERVERS,
            "errors 0": SERVERS,
            "RDB looks OK": 1,
            f" {keys} keys read": 1,
        }
        for line, times in expected.items():
            found = printed["check"].count(line)
            if found < times:
                raise WorkloadFailed(
                    f"redis: the check printed '{line}' {found} times, expected {times}"
                )
        pipelines = histogram(printed["measured"])
        done = PIPELINE * sum(pipelines.values())
        if done != self.count(size):
            raise WorkloadFailed(f"redis: {done} of {self.count(size)} requests were answered")
        figures = {
            f"{kind.upper()} p99, us": percentiles(times)["p99"] / 1000
            for kind, times in histograms(printed["measured"]).items()
        }
        return Outcome(done, percentiles(pipelines), figures)


def _check(size: Size, seed: int) -> str:
    return (
        _clients("wait")
        + _clients("check")
        + f"redis-check-rdb {DUMP} | grep -E 'RDB looks OK|keys read'\n"
    )


def workloads() -> Iterable[Workload]:
    """Return redis; redis-huge, whose servers may have huge pages; and redis-get."""
    mixed, gets = Requests(SETS, RATE), Requests(GET_SETS, GET_RATE, apart=True)
    redis = Workload(
        name="redis",
        summary="Redis: 8 servers, 32 clients over TCP, 75 % SET, 25 % GET, one checkpoint to disk",
        packages=("redis-server", "redis-tools"),
        programs=("redis_clients.c",),
        setup=_setup,
        warm_up=mixed.warm_up,
        slices_max=SLICES_MAX,
        start=mixed.start,
        measured=mixed.measured,
        check=_check,
        outcome=mixed.outcome,
        # The larger one of two kernels: docs/workloads.md.
        spread=0.087,
        not_native="",
    )
    yield redis
    yield replace(
        redis,
        name="redis-huge",
        summary="redis with transparent huge pages (disable-thp no)",
        setup=partial(_setup, options=" --disable-thp no"),
        spread=None,
    )
    yield replace(
        redis,
        name="redis-get",
        summary="redis with 75 % GET and 25 % SET, in pipelines of one kind",
        warm_up=gets.warm_up,
        start=gets.start,
        measured=gets.measured,
        outcome=gets.outcome,
        spread=None,
    )
