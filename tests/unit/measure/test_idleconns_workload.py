# SPDX-License-Identifier: GPL-2.0
"""idleconns: its figures are read from what the clients print, and lost work is an error."""

from __future__ import annotations

import re

import pytest

from kloc.measure import workload
from kloc.measure.workload import FULL, LONG, QUICK, Outcome, Size, WorkloadFailed

NAMES = ("idleconns", "idleconns-poll")
CHECK = "answered 10000\nitems 130000\nevictions 0\nhuge 0\n"


def requests(name: str, size: Size = FULL) -> int:
    found = re.search(r'echo "run (\d+) 7"', workload.load(name).measured(size, 7))
    assert found
    return int(found[1])


def outcome(measured: str, check: str = CHECK, name: str = "idleconns") -> Outcome:
    return workload.load(name).outcome({"measured": measured, "check": check}, FULL)


def printed(name: str = "idleconns", lost: int = 0, wakes: int = 100) -> str:
    busy = requests(name)
    return (
        f"busy {busy}\ntime 50000 60000 {busy - lost}\nwakes 100\ntime 80000 90000 {wakes - 40}\n"
        "time 100000 110000 40\n"
    )


@pytest.mark.parametrize("name", NAMES)
def test_values_and_wakes_count_and_their_latencies_are_apart(name: str) -> None:
    found = outcome(printed(name), name=name)
    assert found.operations == 24 * requests(name) + 100
    assert found.latency_ns == pytest.approx({"p50": 55e3, "p95": 59.5e3, "p99": 59.9e3})
    assert found.figures == pytest.approx({"busy p99, us": 59.9, "wake p99, us": 109.75})


@pytest.mark.parametrize(
    ("measured", "check", "reason"),
    [
        (printed(lost=1), CHECK, "requests were answered"),
        ("idleconns: wrong value of key 7 at byte 8\n", CHECK, "wrong value of key 7"),
        (printed(wakes=99), CHECK, "not all wakes were answered"),
        (printed(), "idleconns: connection 5 was closed\n", "'answered 10000'.*connection 5 was"),
        (printed(), CHECK.replace("130000", "129999"), "'items 130000'"),
        (printed(), CHECK.replace("evictions 0", "evictions 1"), "'evictions 0'"),
    ],
)
def test_lost_work_is_an_error(measured: str, check: str, reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=re.compile(reason, re.S)):
        outcome(measured, check)


@pytest.mark.parametrize("size", [FULL, QUICK, LONG])
@pytest.mark.parametrize("name", NAMES)
def test_the_load_is_the_same_for_all_sizes(name: str, size: Size) -> None:
    """With a quarter of the load, everything would fit into fast memory."""
    what = workload.load(name)
    assert what.setup(size, 1) == what.setup(FULL, 1)
    assert requests(name, size) == pytest.approx(
        requests(name) * size.seconds / FULL.seconds, abs=4
    )


def test_the_control_differs_only_in_how_the_server_waits() -> None:
    idle, poll = (workload.load(name) for name in NAMES)
    option = "EVENT_NOEPOLL=1 "
    assert poll.setup(FULL, 1).count(option) == 1
    assert poll.setup(FULL, 1).replace(option, "") == idle.setup(FULL, 1)
    assert poll.packages == idle.packages == ("memcached",)


def test_connections_and_hot_values_together_exceed_fast_memory_and_either_does_not() -> None:
    """Otherwise there is nothing to win: about 140 MiB of fast memory are free after the boot."""
    options = dict(re.findall(r"(\w+)=(\d+)", workload.load("idleconns").setup(FULL, 1)))
    # A socket with all that hangs on it, at both ends; a chunk of memcached.
    sockets = int(options["connections"]) * (3.9 + 3.7) / 1024
    values = int(options["hot"]) * 1184 / (1 << 20)
    assert sockets < 140 and values < 140 < sockets + values
    assert int(options["busy"]) * 100 < int(options["connections"])
