# SPDX-License-Identifier: GPL-2.0
"""Reads and writes of 4 KiB through the page cache, by fio: filebench and fio-randrw.

filebench models the Filebench run of KLOCs (ASPLOS 2021), table 3: "16 threads,
13.0GB per-thread, executing 50% sequential and random reads", with writes as in
its section 3.1: "16 threads to read and write 4KB blocks to separate files".
Debian has no Filebench, so fio does the same work. Each thread has its own file.

fio-randrw is a control: all offsets in one large file are equally likely. No page
is hotter than another, so a policy gains nothing by finding hot pages.

- Load: write all files, concurrently. They are in page cache afterwards.
- Start, not measured: start fio; each thread waits for the measured phase.
- Measured: 16 threads do the same number of reads and writes of 4 KiB each, half of
  them reads. In filebench 8 threads go through files of 12 MiB in sequence, and 8
  threads draw offsets in files of 60 MiB by Zipf's law (theta 1.2). In
  fio-randrw all threads draw offsets in one file of 640 MiB uniformly.
- Warm-up: slices of an eighth of the operations.
- Operations: each read and each write of 4 KiB counts as one. Latencies are fio's
  completion latencies.
- Check: read all files back. Each block holds its own offset at all times, by
  fio's verify_pattern.

Limits

- The files are much smaller than the paper's, to fit into the machine.
- The seed changes the random offsets and the order of reads and writes, not what
  is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
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


@dataclass(frozen=True)
class Job:
    """Threads that do the same work, each on its own file or (`one_file`) all on one.

    `file_mib` is the size of each file in MiB, `rate` the reads and writes of each thread in a
    second under all-fast. `rw` is fio's access pattern, `options` its distribution of random
    offsets, or "" for uniform ones.
    """

    name: str
    threads: int
    file_mib: int
    rate: int
    rw: str
    options: str = ""
    one_file: bool = False

    def files(self) -> list[str]:
        """Return the names of the files in /data."""
        return [f"{self.name}.{number}" for number in range(1 if self.one_file else self.threads)]

    def operations(self, size: Size) -> int:
        """Return the number of reads and writes of each thread."""
        return size.operations_at(self.rate)


FILEBENCH = (
    Job("sequential", 8, file_mib=12, rate=34_000, rw="rw"),
    Job("random", 8, file_mib=60, rate=34_000, rw="randrw", options="zipf:1.2"),
)
RANDRW = (Job("one", 16, file_mib=640, rate=25_000, rw="randrw", one_file=True),)


def _common(job: Job, size: Size) -> str:
    return (
        f"--name={job.name} --directory=/data --ioengine=psync --bs={BLOCK} "
        f"--size={size.loaded(job.file_mib << 20) // BLOCK * BLOCK} "
        # Use the existing files, and keep the page cache that the load left.
        "--fallocate=none --invalidate=0 "
    )


def _named(job: Job) -> str:
    if job.one_file:
        return f"--filename={job.name}.0"
    return f"--filename_format='{job.name}.$jobnum'"


def _setup(size: Size, seed: int, *, jobs: Iterable[Job]) -> str:
    """Return the script that writes all files concurrently."""
    sections = " ".join(
        f"{_common(job, size)} --numjobs={len(job.files())} {_named(job)} --rw=write "
        "--verify=pattern --verify_pattern=%o --do_verify=0"
        for job in jobs
    )
    return f"fio {sections} --minimal >/dev/null\n"


def _warm_up(size: Size, seed: int, *, jobs: Iterable[Job]) -> str:
    """Return the script of a slice."""
    sections = " ".join(
        f"{_common(job, size)} --thread=1 --numjobs={job.threads} {_named(job)} --rw={job.rw} "
        f"--io_size={job.operations(size.slice()) * BLOCK} "
        f"--randseed=$(({seed} + {WARM_SEED} * $1)) --new_group "
        f"{f'--random_distribution={job.options}' if job.options else '--norandommap'} "
        "--verify=pattern --verify_pattern=%o --do_verify=0 --group_reporting"
        for job in jobs
    )
    return f"fio {sections} --minimal >/dev/null\n"


def _start(size: Size, seed: int, *, jobs: Iterable[Job]) -> str:
    """Return the script that starts fio and waits until all its threads wait on GO.

    fio sleeps for 0.35 s when it starts and ends; outside the measured phase that costs nothing.
    """
    sections = " ".join(
        f"{_common(job, size)} --thread=1 --numjobs={job.threads} {_named(job)} --rw={job.rw} "
        f"--io_size={job.operations(size) * BLOCK} --randseed={seed} --new_group "
        f"{f'--random_distribution={job.options}' if job.options else '--norandommap'} "
        "--verify=pattern --verify_pattern=%o --do_verify=0 --group_reporting "
        # fio appends a redirection to each of these commands; the braces protect ours.
        f"--exec_prerun='{{ read go <{GO}; }}; :' --exec_postrun='{{ echo >{DONE}; }}'"
        for job in jobs
    )
    threads = sum(job.threads for job in jobs)
    return f"""
mkfifo {GO} {DONE}
fio {sections} --output-format=json+ --output={REPORT}.draft >/run/kloc/fio.log 2>&1 \\
    && mv {REPORT}.draft {REPORT} &
until [ "$(pgrep -c -f '^sh -c .*read go')" = {threads} ]; do sleep 0.05; done
"""


def _measured(size: Size, seed: int, *, jobs: Iterable[Job]) -> str:
    threads = sum(job.threads for job in jobs)
    return f"""
# Open both ways, so that it does not end when one thread has written to it.
exec 3<>{DONE}
: >{GO}
for thread in $(seq {threads}); do read done <&3; done
"""


def _check(size: Size, seed: int, *, jobs: Iterable[Job]) -> str:
    """Return the script that prints fio's report, and reads all files back and compares them.

    It uses processes: fio's threads would share one buffer of the pattern that they compare.
    """
    sections = " ".join(
        f"{_common(job, size)} --numjobs={len(job.files())} {_named(job)} --rw=read "
        "--verify=pattern --verify_pattern=%o --verify_fatal=1 --group_reporting --new_group"
        for job in jobs
    )
    return f"""
while pgrep -x fio >/dev/null; do sleep 0.05; done
cat /run/kloc/fio.log
fio {sections} --output-format=json --output=/run/kloc/verified.json
cat {REPORT} /run/kloc/verified.json
"""


def _reports(text: str) -> list[Mapping[str, Any]]:
    """Return fio's JSON reports in `text`, each as {job name: report}; skip all other output."""
    reports, decoder = [], json.JSONDecoder()
    at = text.find("{\n")
    while at >= 0:
        report, end = decoder.raw_decode(text, at)
        reports.append({each["jobname"]: each for each in report["jobs"]})
        at = text.find("{\n", end)
    return reports


def _outcome(printed: Mapping[str, str], size: Size, *, name: str, jobs: Iterable[Job]) -> Outcome:
    try:
        done, verified = _reports(printed["check"])
    except ValueError as error:
        raise WorkloadFailed(f"{name}: fio left no report:\n{printed['check']}") from error
    operations = 0
    histogram: dict[tuple[float, float], int] = {}
    for job in jobs:
        blocks = len(job.files()) * (size.loaded(job.file_mib << 20) // BLOCK)
        _expect(name, job, done, job.threads * job.operations(size), "done")
        _expect(name, job, verified, blocks, "verified")
        for direction in ("read", "write"):
            counted = done[job.name][direction]
            operations += counted["total_ios"]
            for ns, count in counted["clat_ns"]["bins"].items():
                bucket = (float(ns), float(ns))
                histogram[bucket] = histogram.get(bucket, 0) + count
    return Outcome(operations, percentiles(histogram))


def _expect(name: str, job: Job, reports: Mapping[str, Any], blocks: int, word: str) -> None:
    """Raise WorkloadFailed unless fio reports `blocks` blocks of the job and no error."""
    report = reports.get(job.name)
    if report is None or report["error"]:
        raise WorkloadFailed(f"{name}: fio failed in job {job.name}, before all was {word}")
    count = report["read"]["total_ios"] + report["write"]["total_ios"]
    if count != blocks:
        raise WorkloadFailed(f"{name}: {count} of {blocks} blocks of job {job.name} were {word}")


def workloads() -> Iterable[Workload]:
    """Return filebench and fio-randrw."""
    for name, summary, jobs in (
        ("filebench", "fio as Filebench: 16 threads, 4 KiB, half sequential, half Zipf", FILEBENCH),
        ("fio-randrw", "fio: uniform random reads and writes of one file (control)", RANDRW),
    ):
        yield Workload(
            name=name,
            summary=summary,
            packages=("fio",),
            setup=partial(_setup, jobs=jobs),
            warm_up=partial(_warm_up, jobs=jobs),
            slices_max=SLICES_MAX,
            start=partial(_start, jobs=jobs),
            measured=partial(_measured, jobs=jobs),
            check=partial(_check, jobs=jobs),
            outcome=partial(_outcome, name=name, jobs=jobs),
            instructions=8e9,
        )
