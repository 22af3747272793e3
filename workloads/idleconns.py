# SPDX-License-Identifier: GPL-2.0
"""idleconns: a memcached most of whose connections are idle.

Proxies, caches and message brokers hold thousands of connections, of which few are in use at a
time. An idle TCP connection has no data: its memory is slab (socket, inode, file, dentry, items of
epoll), which Linux's tiering leaves in fast memory. Both ends are in the machine, as on a proxy:
each connection has two sockets.

- Load: start memcached, connect 10,000 times (workloads/src/idleconns.c), and ask for a key on
  each connection. Then fill the cache with 130,000 values of 1 KiB, 147 MiB with the rest of its
  chunks. A cache that was restarted sees this order: its clients are back before it is full
  again. With the other order, values would take fast memory before the sockets do, under each
  policy.
- Warm-up: slices of an eighth of the measured requests.
- Measured: four threads get values of the hot set, 100,000 keys or 113 MiB, drawn uniformly.
  They are busy on 32 of the connections. A request there asks for 24 keys, the mean at Facebook
  (Nishtala et al., Scaling Memcache at Facebook, NSDI 2013). After each 1,000 keys a thread wakes
  an idle connection, drawn at random, with a request for one key.
- Operations: each value counts as one. The latency is that of the busy connections' requests.
- Figures of their own: the 99th percentiles of the latencies of a request on a busy connection
  (`busy p99, us`) and of a wake (`wake p99, us`).
- Check: each value was right, byte by byte. At the end all connections answer, and the server has
  all keys and has evicted none.

idleconns       memcached waits with epoll
idleconns-poll  the control: memcached waits with poll(), which asks each connection each
                time. So no socket is unused, and nothing should leave fast memory.

Limits

- --quick shortens the region and not the load: with a quarter of the load, everything would fit
  into fast memory.
- Network is loopback: no device reads or writes data.
- The clients' threads share the cores with the server's. A wake also waits for the thread's
  busy connections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kloc.measure import served
from kloc.measure.workload import (
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    histogram,
    percentiles,
)

PORT = 11211
THREADS = 4
CONNECTIONS = 10_000
BUSY = 32
# Keys of a request.
MULTI = 24
KEYS, HOT = 130_000, 100_000
# After so many keys a thread wakes an idle connection.
WAKE = 1_000
# memcached's own limits, in MiB and connections, and the size of its hash table, which would grow
# while it is filled: 2 to the power of this.
MEMORY, CONNECTIONS_MAX, HASH_POWER = 400, 20_000, 17

BUSY_P99, WAKE_P99 = "busy p99, us", "wake p99, us"
COUNTS = re.compile(r"^(busy|wakes|answered|items|evictions) (\d+)$", re.M)


@dataclass(frozen=True)
class IdleConnections:
    """A variant of idleconns. `rate` is the values a second under all-fast.

    `server` is what stands before the command of the server.
    """

    name: str
    summary: str
    rate: float
    server: str = ""

    def setup(self, size: Size, seed: int) -> str:
        """Return the script that starts memcached, connects to it, and fills it."""
        clients = (
            f"idleconns port={PORT} threads={THREADS} connections={CONNECTIONS} busy={BUSY} "
            f"multi={MULTI} keys={KEYS} hot={HOT} wake={WAKE}"
        )
        return f"""
{self.server}memcached -d -u root -l 127.0.0.1 -p {PORT} -U 0 -t {THREADS} -b 1024 \\
    -c {CONNECTIONS_MAX} -m {MEMORY} -o hashpower={HASH_POWER}
sleep 1
{served.start(clients)}"""

    def requests(self, size: Size) -> int:
        """Return how many requests to measure, without the wakes."""
        return -(-size.operations_at(self.rate) // MULTI)

    def warm_up(self, size: Size, seed: int) -> str:
        """Return the script of a slice."""
        seeds = f"$(({seed} + {WARM_SEED} * $1))"
        return served.ask(f"run {self.requests(size.slice())} {seeds}", "busy")

    def measured(self, size: Size, seed: int) -> str:
        """Return the script of the region."""
        return served.ask(f"run {self.requests(size)} {seed}", "busy")

    def check(self, size: Size, seed: int) -> str:
        """Return the script that asks on all connections and ends the clients."""
        return served.ask("stop", "answered")

    def outcome(self, printed: Mapping[str, str], size: Size) -> Outcome:
        """Return the values; raise WorkloadFailed unless all came, and were right."""
        text, check = printed["measured"], printed["check"]
        counts = {name: int(count) for name, count in COUNTS.findall(text + check)}
        busy, _, wakes = text.partition("wakes")
        busy_times, wake_times = histogram(busy), histogram(wakes)
        requests = sum(busy_times.values())
        if not requests == counts.get("busy") == self.requests(size):
            raise WorkloadFailed(
                f"{self.name}: {requests} of {self.requests(size)} requests were answered; "
                f"it said: {text[:200]}"
            )
        if not sum(wake_times.values()) == counts.get("wakes"):
            raise WorkloadFailed(f"{self.name}: not all wakes were answered")
        expected = {"answered": CONNECTIONS, "items": KEYS, "evictions": 0}
        for name, count in expected.items():
            if counts.get(name) != count:
                raise WorkloadFailed(
                    f"{self.name}: expected '{name} {count}' at the end; it said: {check[:200]}"
                )
        figures = {
            BUSY_P99: percentiles(busy_times)["p99"] / 1000,
            WAKE_P99: percentiles(wake_times)["p99"] / 1000,
        }
        done = MULTI * requests + counts["wakes"]
        return Outcome(done, percentiles(busy_times), figures)


VARIANTS = (
    IdleConnections(
        "idleconns",
        "memcached: 10,000 connections, of which 32 are busy and the others idle",
        1760e3,
    ),
    IdleConnections(
        "idleconns-poll",
        "idleconns whose server asks all connections with poll(): none is unused",
        480e3,
        server="EVENT_NOEPOLL=1 ",
    ),
)


def workloads() -> Iterable[Workload]:
    """Return idleconns and its control."""
    for one in VARIANTS:
        memcached = served.workload(one, "idleconns.c", 15e9, not_native="")
        yield replace(memcached, packages=("memcached",))
