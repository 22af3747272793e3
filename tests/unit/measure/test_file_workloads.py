# SPDX-License-Identifier: GPL-2.0
"""Outcomes of filebench, the small-file programs, liblinear and db_bench's service."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from kloc.measure import workload
from kloc.measure.workload import FULL, Outcome, WorkloadFailed


def outcome(name: str, check: str, measured: str = "") -> Outcome:
    return workload.load(name).outcome({"check": check, "measured": measured}, FULL)


def asked(name: str, what: str) -> int:
    """Return the number that follows `what` in the scripts of a workload's region."""
    load = workload.load(name)
    scripts = (load.start(FULL, 1) if load.start else "") + load.measured(FULL, 1)
    found = re.search(rf"{what}(\d+)", scripts)
    assert found
    return int(found[1])


BLOCKS = 16 * asked("filebench", "operations=")
VERIFIED = "verified 147456\n"


def filebench(read: int = BLOCKS // 2, check: str = VERIFIED) -> Outcome:
    """Return the outcome of filebench, whose files have 147,456 blocks."""
    times = f"time 1000 3000 {BLOCKS}\n"
    return outcome("filebench", check, f"read {read}\nwrite {BLOCKS // 2}\n{times}")


def test_filebench_counts_reads_and_writes() -> None:
    found = filebench()
    assert found.operations == BLOCKS
    assert found.latency_ns == {"p50": 2000.0, "p95": 2900.0, "p99": 2980.0}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"read": BLOCKS // 2 - 1}, f"{BLOCKS - 1} of {BLOCKS} blocks were read or written"),
        ({"check": "verified 147455\n"}, "not 147456 blocks were verified: verified 147455"),
        ({"check": "blocks: file.0: wrong contents"}, "wrong contents"),
    ],
)
def test_filebench_that_did_not_do_its_work_fails(changes: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=reason):
        filebench(**changes)


def test_filebench_that_printed_nothing_fails() -> None:
    with pytest.raises(WorkloadFailed, match=r"0 of [0-9]+ blocks were read or written"):
        outcome("filebench", "")


def test_half_of_filebench_s_threads_use_a_zipf_distribution() -> None:
    script = workload.load("filebench").measured(FULL, 1)
    assert "sequential=8 random=8 " in script
    assert "zipf=12 " in script


SESSIONS = 4 * asked("smallfiles", r"\.runs\) ")
SMALLFILES = (
    f"list {SESSIONS}\nstat {200 * SESSIONS}\nread {400 * SESSIONS}\n"
    f"create {50 * SESSIONS}\nrename {50 * SESSIONS}\nunlink {50 * SESSIONS}\n"
)
TIMES = "time 1000 2000 75\ntime 2000 4000 25\n"
FOUND = "list 300\nstat 60000\nread 60000\n"


def test_smallfiles_counts_all_operations() -> None:
    found = outcome("smallfiles", FOUND, SMALLFILES + TIMES)
    assert found.operations == SESSIONS * (1 + 200 + 400 + 3 * 50)
    assert found.latency_ns is not None
    assert found.latency_ns["p95"] == pytest.approx(3600)


@pytest.mark.parametrize(
    ("check", "measured", "reason"),
    [
        (FOUND.replace("stat 60000", "stat 59999"), SMALLFILES, "found stat 59999 times"),
        (FOUND, SMALLFILES.replace("rename ", "rename 9"), "done rename .* times and not"),
        (FOUND, "", "done list None times"),
    ],
)
def test_smallfiles_that_did_not_do_its_work_fails(check: str, measured: str, reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=reason):
        outcome("smallfiles", check, measured + TIMES)


ROUNDS = asked("mail", r"\.runs\) ")
MAIL = f"delete {ROUNDS}\nreceive {ROUNDS}\nappend 200\nread {2 * ROUNDS}\n"


def test_mail_counts_what_all_servers_did() -> None:
    found = outcome("mail", "read 3000\n" * 16, (MAIL + TIMES) * 16)
    assert found.operations == 16 * (4 * ROUNDS + 200)


@pytest.mark.parametrize(
    ("boxes", "servers", "reason"),
    [
        (15, 16, "found read 45000 times and not 48000"),
        (16, 15, f"done delete {15 * ROUNDS} times"),
    ],
)
def test_mail_that_lost_messages_or_a_server_fails(boxes: int, servers: int, reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=reason):
        outcome("mail", "read 3000\n" * boxes, (MAIL + TIMES) * servers)


LIBLINEAR = "..*\noptimization finished, #iter = 7\nAccuracy = 88.7333% (1775/2000)\n"


def test_liblinear_counts_each_row_of_each_iteration() -> None:
    assert outcome("liblinear", LIBLINEAR) == Outcome(7 * 200_000, None)


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (LIBLINEAR.replace("finished", "broke off"), "did not finish"),
        (LIBLINEAR.replace("88.7", "50.0"), "50.0333 % of rows"),
        (LIBLINEAR.replace("/2000", "/1000"), "was not tested"),
    ],
)
def test_liblinear_that_did_not_learn_fails(check: str, reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=reason):
        outcome("liblinear", check)


REQUESTS = 8 * asked("rocksdb-mixgraph", "--reads=")
MIXGRAPH = f"""
mixgraph     :      25.125 micros/op 39800 ops/sec 1.206 seconds {REQUESTS} operations; 35.0 MB/s \
( Gets:5100 Puts:840 Seek:60, reads 5160 in 5160 found, avg size: 35.1 value, 6.4 scan)
Microseconds per read:
(       6,      10 ]       50  50.000%  50.000% ##########
(      10,      15 ]       50  50.000% 100.000% ##########
"""
KEYS = "keys 550000\n"


def test_mixgraph_counts_all_operations() -> None:
    found = outcome("rocksdb-mixgraph", KEYS, MIXGRAPH)
    assert found.operations == REQUESTS
    assert found.latency_ns is not None
    assert found.latency_ns["p50"] == 10_000


@pytest.mark.parametrize(
    ("name", "check", "measured", "reason"),
    [
        ("rocksdb-mixgraph", KEYS, "", "did not finish"),
        (
            "rocksdb-mixgraph",
            KEYS,
            MIXGRAPH.replace(f"{REQUESTS} op", "47 op"),
            f"47 of {REQUESTS}",
        ),
        ("rocksdb-mixgraph", KEYS, MIXGRAPH.replace("reads 5160", "reads 5159"), "5159 of 5160"),
        ("rocksdb-mixgraph", "keys 549999\n", MIXGRAPH, "does not hold 550000 keys"),
        ("rocksdb-backup", KEYS, MIXGRAPH, "does not hold 40 files"),
        ("rocksdb-backup", KEYS + "copied 39\n", MIXGRAPH, "does not hold 40 files"),
    ],
)
def test_a_service_that_did_not_do_its_work_fails(
    name: str, check: str, measured: str, reason: str
) -> None:
    with pytest.raises(WorkloadFailed, match=reason):
        outcome(name, check, measured)
