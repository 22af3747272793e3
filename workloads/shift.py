# SPDX-License-Identifier: GPL-2.0
"""shift: how soon a policy follows a hot set that moves, with Redis.

Servers' hot sets move: by time of day, by tenant, with each release. Until a policy
has brought the new one to fast memory, the server is slower.

- Load: start 2 servers and let each populate itself with 30,000 keys with values of
  4000 bytes. A value takes about a page; hot keys are spread over a server's memory.
- Warm-up: slices of an eighth of the measured requests. 95 % of them ask for the hot
  set, which is 1000 keys of each server.
- Measured: each server has one client, with pipelines of 8 GET requests (workloads/
  src/redis_clients.c). When half of the requests have been made, the hot sets of all servers
  move to other keys.
- Operations: each GET counts as one.
- Lost operations, a figure of its own: how many fewer operations were done after the
  move than at the rate before it. The rate before is that of the second half of the
  time until the move. Operations count as lost until the rate is back: until the
  first of three slices of 5 ms in a row with at least 95 % of that rate. If it does
  not come back, the whole remaining time counts, and a note says so.
- Check: each reply was the value of its key. No server lost a key or reported an
  error.

Limits

- A policy that never had the hot set in fast memory has nothing to lose: read lost
  operations together with operations/s. Under the bounds they are about zero.
- Nothing is written, so that values stay in the pages that they were loaded to.
- The seed changes the requests, not what is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kloc.measure.workload import (
    SLICES_MAX,
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    histogram,
    percentiles,
)

SERVERS = 2
PORT = 7000
KEYS = 30_000
VALUE = 4000
PIPELINE = 8
HOT = 1_000
# Requests a second of all clients together under all-fast.
RATE = 460_000
# The hot keys after the move begin here, as a share of all keys.
MOVED_TO = 0.5
SLICE_NS = 5_000_000
# The rate is back from the first of so many slices in a row on that have this share of it.
BACK_SLICES = 3
BACK = 0.95

LOST = "lost operations"
NUMBER = re.compile(r"^(requests|moved|ended) (\d+)$", re.M)
SLICE = re.compile(r"^slice \d+ (\d+)$", re.M)


@dataclass(frozen=True)
class Lost:
    """Operations that were lost after the move, and whether the rate came back."""

    operations: float
    came_back: bool


def _clients(mode: str, options: str = "") -> str:
    """Return a command of the clients of all servers: see workloads/src/redis_clients.c."""
    return f"redis_clients {mode} servers={SERVERS} port={PORT} {options}\n"


def _setup(size: Size, seed: int) -> str:
    return f"""
for i in $(seq 0 {SERVERS - 1}); do
    mkdir -p /data/$i
    # --hz: see redis.py.
    redis-server --port $(({PORT} + i)) --dir /data/$i --save "" --hz 1 --daemonize yes \\
        --enable-debug-command local --logfile /data/$i/log
done
sleep 1
{_clients("load", f"keys={size.loaded(KEYS)} value={VALUE}")}"""


def _run(size: Size, seed: str, moved_to: float) -> str:
    keys = size.loaded(KEYS)
    return _clients(
        "run",
        f"keys={keys} value={VALUE} clients=1 pipeline={PIPELINE} sets=0 hot={size.loaded(HOT)} "
        f"requests={_requests(size)} seed={seed} from=0 to={round(keys * moved_to)}",
    )


def _requests(size: Size) -> int:
    """Return the number of requests, in complete pipelines."""
    return -(-size.operations_at(RATE) // PIPELINE) * PIPELINE


def _warm_up(size: Size, seed: int) -> str:
    """Return the script of a slice: requests for the first hot set."""
    return _run(size.slice(), f"$(({seed} + {WARM_SEED} * $1))", 0)


def _measured(size: Size, seed: int) -> str:
    return _run(size, f"{seed}", MOVED_TO)


def _check(size: Size, seed: int) -> str:
    return _clients("check")


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    for line in (f"keys {size.loaded(KEYS)}", "errors 0"):
        if printed["check"].splitlines().count(line) != SERVERS:
            raise WorkloadFailed(f"shift: the check did not print '{line}' {SERVERS} times")
    text = printed["measured"]
    numbers = {name: int(value) for name, value in NUMBER.findall(text)}
    slices = [int(count) for count in SLICE.findall(text)]
    if not {"requests", "moved", "ended"} <= numbers.keys():
        raise WorkloadFailed("shift: the clients did not finish")
    if sum(slices) != numbers["requests"]:
        raise WorkloadFailed(f"shift: {sum(slices)} of {numbers['requests']} requests were made")
    lost = lost_operations(slices, numbers["moved"], numbers["ended"])
    note = "the rate of before the move did not come back: all remaining time counts as lost"
    return Outcome(
        operations=numbers["requests"],
        latency_ns=percentiles(histogram(text)),
        figures={LOST: lost.operations},
        notes=() if lost.came_back else (note,),
    )


def lost_operations(slices: list[int], moved: int, ended: int) -> Lost:
    """Return how many fewer operations were done after the move than at the rate before it.

    `slices` has the operations that ended in each slice of SLICE_NS; `moved` and `ended` are when
    the hot set moved, and when the last operation ended, in ns. The slice of the move counts as
    after it. Raises WorkloadFailed if the time before the move is too short to know the rate.
    """
    first = moved // SLICE_NS
    before = slices[first // 2 : first]
    if not before:
        raise WorkloadFailed("shift: the hot set moved in the first slice")
    rate = sum(before) / len(before)
    lost = 0.0
    for number in range(first, len(slices)):
        good = [
            slices[at] >= BACK * rate * _share(at, ended)
            for at in range(number, min(number + BACK_SLICES, len(slices)))
        ]
        if number > first and len(good) == BACK_SLICES and all(good):
            return Lost(lost, came_back=True)
        lost += rate * _share(number, ended) - slices[number]
    return Lost(lost, came_back=False)


def _share(number: int, ended: int) -> float:
    """Return the duration of a slice as a share of SLICE_NS: the last one ends at `ended`."""
    return min(1.0, max(0, ended - number * SLICE_NS) / SLICE_NS)


def workloads() -> Iterable[Workload]:
    """Return shift."""
    yield Workload(
        name="shift",
        summary="Redis: 2 servers, GET; the hot set moves in the middle of the measured region",
        packages=("redis-server", "redis-tools"),
        programs=("redis_clients.c",),
        setup=_setup,
        warm_up=_warm_up,
        slices_max=SLICES_MAX,
        measured=_measured,
        check=_check,
        outcome=_outcome,
        instructions=4e9,
        not_native="",
    )
