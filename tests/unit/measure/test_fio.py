# SPDX-License-Identifier: GPL-2.0
"""The scripts and outcomes of fio-randrw, seqread and randread."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
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
        return {"total_ios": count, "clat_ns": {"bins": {"1000": count}} if count else {}}

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
    assert "--rw=randrw --numjobs=16 " in script
    assert "--norandommap" in script and "random_distribution" not in script


@pytest.mark.parametrize(("name", "rw"), [("seqread", "read"), ("randread", "randread")])
def test_readers_have_a_file_each_which_is_on_disk_at_first(name: str, rw: str) -> None:
    what = workload.load(name)
    assert what.start is not None and what.prepare is not None and what.check is not None
    script = what.start(FULL, 1)
    assert "--directory=/data " in script and "--filename" not in script
    assert f"--rw={rw} --numjobs=4 " in script
    for each in (what.prepare(FULL, 1), what.check(FULL, 1)):
        assert "--numjobs=4 " in each
    # fio compares with the offset of another thread: processes verify.
    assert "verify" not in script and "--thread" not in what.check(FULL, 1)
    # Nothing of them is written, or dropped, in a run.
    assert "fio" not in what.setup(FULL, 1) and "--invalidate=0 " in script


def test_a_slice_of_seqread_reads_each_file_at_least_once() -> None:
    slices = workload.load("seqread").slices(FULL, 1) or ""
    sizes = {int(size) for size in re.findall(r"--size=(\d+) ", slices)}
    assert sizes == {128 << 20}
    assert min(int(size) for size in re.findall(r"--io_size=(\d+) ", slices)) >= 128 << 20


def test_the_blocks_of_all_files_are_verified() -> None:
    what = workload.load("randread")
    assert what.start is not None
    found = re.search(r"--io_size=(\d+) ", what.start(FULL, 1))
    assert found
    blocks = 4 * int(found[1]) // 4096
    printed = [json.dumps({"jobs": [job(count)]}, indent=2) for count in (blocks, 131_072)]
    assert what.outcome({"check": "\n".join(printed)}, FULL).operations == blocks
    printed[1] = json.dumps({"jobs": [job(32_768)]}, indent=2)
    with pytest.raises(WorkloadFailed, match="randread: 32768 of 131072 blocks were verified"):
        what.outcome({"check": "\n".join(printed)}, FULL)


FAKES = {
    "fio": """
case "$*" in *exec_prerun*) echo started >>DIR/started; read go <DIR/go ;; esac
case "$*" in *randseed=1666*) exit 1 ;; esac
for thread in $(seq 16); do echo >DIR/done; done
# As long as fio takes to end, and more.
sleep 60
""",
    "pgrep": "echo 16\n",
}
"""A fio whose threads have nothing to do, and a pgrep that finds all of them waiting."""

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """A function that runs a script with the fakes, and returns its exit status."""
    for name, body in FAKES.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body.replace('DIR', str(tmp_path))}")
        (tmp_path / name).chmod(0o755)
    started: list[subprocess.Popen[bytes]] = []

    def run_script(script: str, *arguments: str) -> int:
        text = script.replace("/run/kloc", str(tmp_path))
        process = subprocess.Popen(
            ["sh", "-e", "-c", text, "sh", *arguments],
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            start_new_session=True,
        )
        started.append(process)
        return process.wait(timeout=30)

    yield run_script
    for process in started:
        # A script that has left nothing running has no group any more.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_a_slice_and_the_region_end_with_the_threads_and_do_not_wait_for_fio(
    run: Run, tmp_path: Path
) -> None:
    """The first slice starts the fio of the region, and start does not do it once more."""
    assert FIO.start is not None
    slices = FIO.slices(FULL, 1) or ""
    for number in ("1", "2"):
        assert run(slices, number) == 0
    assert run(FIO.start(FULL, 1)) == 0
    assert run(FIO.measured(FULL, 1)) == 0
    assert (tmp_path / "started").read_text() == "started\n"


def test_without_a_warm_up_start_starts_the_fio_of_the_region(run: Run, tmp_path: Path) -> None:
    assert FIO.start is not None
    assert run(FIO.start(FULL, 1)) == 0
    assert run(FIO.measured(FULL, 1)) == 0
    assert (tmp_path / "started").read_text() == "started\n"


def test_a_slice_whose_fio_fails_fails(run: Run) -> None:
    assert run(FIO.slices(FULL, 666) or "", "1") != 0
