# SPDX-License-Identifier: GPL-2.0
"""The outcome of fio-randrw."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from kloc.measure import workload
from kloc.measure.workload import FULL, Outcome, WorkloadFailed

FIO = workload.load("fio-randrw")


def asked() -> int:
    """Return the number of blocks that all threads are asked to read or write."""
    assert FIO.start is not None
    found = re.search(r"--io_size=(\d+) ", FIO.start(FULL, 1))
    assert found
    return 16 * int(found[1]) // 4096


BLOCKS = asked()


def job(reads: int, writes: int = 0, error: int = 0) -> dict[str, Any]:
    def counted(count: int) -> dict[str, Any]:
        return {"total_ios": count, "clat_ns": {"bins": {"1000": count} if count else {}}}

    return {"jobname": "one", "error": error, "read": counted(reads), "write": counted(writes)}


def outcome(
    reads: int = BLOCKS // 2, writes: int = BLOCKS // 2, verified: int = 163_840, error: int = 0
) -> Outcome:
    """Return the outcome; the file has 163,840 blocks."""
    done = json.dumps({"jobs": [job(reads, writes)]}, indent=2)
    compared = json.dumps({"jobs": [job(verified, error=error)]}, indent=2)
    return FIO.outcome({"check": f"fio: a note of its own\n{done}\n{compared}\n"}, FULL)


def test_reads_and_writes_are_counted() -> None:
    found = outcome()
    assert found.operations == BLOCKS
    assert found.latency_ns == {"p50": 1000.0, "p95": 1000.0, "p99": 1000.0}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reads": BLOCKS // 2 - 1}, f"{BLOCKS - 1} of {BLOCKS} blocks were read or written"),
        ({"verified": 163_839}, "163839 of 163840 blocks were verified"),
        ({"error": 84}, "failed before all was verified"),
    ],
)
def test_fio_that_did_not_do_its_work_fails(changes: Mapping[str, int], reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=reason):
        outcome(**changes)


def test_fio_without_a_report_fails() -> None:
    with pytest.raises(WorkloadFailed, match="left no report:\nfio: no space left"):
        FIO.outcome({"check": "fio: no space left"}, FULL)


def test_threads_share_one_file_and_no_block_is_hot() -> None:
    assert FIO.start is not None
    script = FIO.start(FULL, 1)
    assert "--filename=/data/one.0 " in script
    assert "--rw=randrw --thread=1 --numjobs=16 " in script
    assert "--norandommap" in script and "random_distribution" not in script
