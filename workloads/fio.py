# SPDX-License-Identifier: GPL-2.0
"""fio-randrw: uniform reads and writes of 4 KiB through the page cache, by fio.

A control: all offsets in one large file are equally likely. No page is hotter than
another, so a policy gains nothing by finding hot pages.

- Load: write the file. It is in page cache afterwards.
- Start, not measured: start the fio that is measured, whose threads wait for the measured
  phase. The first slice of the warm-up does that, because fio sleeps for 0.35 s when it starts.
- Measured: 16 threads do the same number of reads and writes of 4 KiB each, half of
  them reads, at uniform offsets in one file of 640 MiB.
- Warm-up: slices of an eighth of the operations.
- Operations: each read and each write of 4 KiB counts as one. Latencies are fio's
  completion latencies.
- Check: read the file back. Each block holds its own offset at all times, by fio's
  verify_pattern.

Limits

- fio sleeps for 0.35 s when it starts, in each slice of the warm-up. So the kernel has more
  idle time there than under other workloads. A slice ends when the threads are done. Its fio
  sleeps for 0.35 s before it ends, and does so in the next slice, or in the measured phase: a
  process that exits.
- The seed changes the random offsets and the order of reads and writes, not what
  is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kloc.measure.workload import (
    SLICES_MAX,
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    percentiles,
)

BLOCK = 4096
# FIFOs: the threads wait on GO for the measured phase, and each reports its end on DONE.
GO, DONE = "/run/kloc/go", "/run/kloc/done"
REPORT = "/run/kloc/fio.json"


NAME = "one"
"""The name of fio's job, and of its file."""

THREADS = 16
FILE_MIB = 640
# Reads and writes of each thread in a second under all-fast.
RATE = 70_000


def _operations(size: Size) -> int:
    """Return the number of reads and writes of each thread."""
    return size.operations_at(RATE)


def _blocks(size: Size) -> int:
    return size.loaded(FILE_MIB << 20) // BLOCK


def _job(size: Size, rw: str, threads: int = 1) -> str:
    """Return the options of fio's only job."""
    return (
        f"--name={NAME} --filename=/data/{NAME}.0 --ioengine=psync --bs={BLOCK} "
        f"--size={_blocks(size) * BLOCK} --rw={rw} --thread=1 --numjobs={threads} "
        # Use the existing file, and keep the page cache that the load left.
        "--fallocate=none --invalidate=0 --norandommap --group_reporting "
        "--verify=pattern --verify_pattern=%o"
    )


def _setup(size: Size, seed: int) -> str:
    return f"fio {_job(size, 'write')} --do_verify=0 --minimal >/dev/null\n"


def _run(size: Size, seed: str) -> str:
    """Return the options of fio with threads that report their end on DONE."""
    job = _job(size, "randrw", THREADS)
    # fio appends a redirection to such a command; the braces protect ours.
    ended = f"--exec_postrun='{{ echo >{DONE}; }}'"
    return f"{job} --do_verify=0 --io_size={_operations(size) * BLOCK} --randseed={seed} {ended}"


# Wait for the threads. A process that ends with an error says "failed" on DONE. Opened both ways,
# DONE does not end when one thread has written to it.
WAIT = f"""
for thread in $(seq {THREADS}); do read done <&3; test "$done" != failed; done
"""


def _warm_up(size: Size, seed: int) -> str:
    """Return the script of a slice. The first one starts the fio of the measured phase, too."""
    slice_seed = f"$(({seed} + {WARM_SEED} * $1))"
    return f"""
if [ "$1" = 1 ]; then
{_start(size, seed)}
fi
exec 3<>{DONE}
fio {_run(size.slice(), slice_seed)} --minimal >/dev/null || echo failed >&3 &
{WAIT}"""


def _start(size: Size, seed: int) -> str:
    """Return the script that starts fio and waits until all its threads wait on GO.

    It does nothing if the warm-up has done that already.
    """
    wait = f"--exec_prerun='{{ read go <{GO}; }}; :'"
    output = f"--output-format=json+ --output={REPORT}.draft"
    return f"""
if ! [ -e {GO} ]; then
    mkfifo {GO} {DONE}
    fio {_run(size, str(seed))} {wait} {output} >/run/kloc/fio.log 2>&1 \\
        && mv {REPORT}.draft {REPORT} || echo failed >{DONE} &
    until [ "$(pgrep -c -f '^sh -c .*read go')" = {THREADS} ]; do sleep 0.05; done
fi
"""


def _measured(size: Size, seed: int) -> str:
    return f"""
exec 3<>{DONE}
: >{GO}
{WAIT}"""


def _check(size: Size, seed: int) -> str:
    """Return the script that prints fio's report, and reads the file back and compares it."""
    return f"""
while pgrep -x fio >/dev/null; do sleep 0.05; done
cat /run/kloc/fio.log
fio {_job(size, "read")} --verify_fatal=1 --output-format=json --output=/run/kloc/verified.json
cat {REPORT} /run/kloc/verified.json
"""


def _reports(text: str) -> list[Mapping[str, Any]]:
    """Return fio's JSON reports of its job in `text`; skip all other output."""
    reports, decoder = [], json.JSONDecoder()
    at = text.find("{\n")
    while at >= 0:
        report, end = decoder.raw_decode(text, at)
        reports += [each for each in report["jobs"] if each["jobname"] == NAME]
        at = text.find("{\n", end)
    return reports


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    try:
        done, verified = _reports(printed["check"])
    except ValueError as error:
        raise WorkloadFailed(f"fio-randrw: fio left no report:\n{printed['check']}") from error
    operations = THREADS * _operations(size)
    _expect(done, operations, "read or written")
    _expect(verified, _blocks(size), "verified")
    histogram: dict[tuple[float, float], int] = {}
    for direction in ("read", "write"):
        for ns, count in done[direction]["clat_ns"]["bins"].items():
            bucket = (float(ns), float(ns))
            histogram[bucket] = histogram.get(bucket, 0) + count
    return Outcome(operations, percentiles(histogram))


def _expect(report: Mapping[str, Any], blocks: int, word: str) -> None:
    """Raise WorkloadFailed unless fio reports so many blocks and no error."""
    if report["error"]:
        raise WorkloadFailed(f"fio-randrw: fio failed before all was {word}")
    count = report["read"]["total_ios"] + report["write"]["total_ios"]
    if count != blocks:
        raise WorkloadFailed(f"fio-randrw: {count} of {blocks} blocks were {word}")


def workloads() -> Iterable[Workload]:
    """Return fio-randrw."""
    yield Workload(
        name="fio-randrw",
        summary="fio: uniform random reads and writes of one file (control)",
        packages=("fio",),
        setup=_setup,
        warm_up=_warm_up,
        slices_max=SLICES_MAX,
        start=_start,
        measured=_measured,
        check=_check,
        outcome=_outcome,
        instructions=8e9,
        not_native="",
    )
