# SPDX-License-Identifier: GPL-2.0
"""Reads and writes of 4 KiB through the page cache: filebench and fio-randrw.

filebench models the Filebench run of KLOCs (ASPLOS 2021), table 3: "16 threads,
13.0GB per-thread, executing 50% sequential and random reads", with writes as in
its section 3.1: "16 threads to read and write 4KB blocks to separate files".
Debian has no Filebench, so a C program of our own does the same work
(workloads/src/blocks.c). Each thread has its own file.

fio-randrw is a control: all offsets in one large file are equally likely. No page
is hotter than another, so a policy gains nothing by finding hot pages. It is what
fio does with rw=randrw and norandommap.

- Load: write all files, concurrently. They are in page cache afterwards. Linux writes
  dirty pages to the disk in the background, and does not slow down the writers
  (vm.dirty_ratio is 100).
- Measured: 16 threads do the same number of reads and writes of 4 KiB each, half of
  them reads. In filebench 8 threads go through files of 12 MiB in sequence, and 8
  threads draw offsets in files of 60 MiB by Zipf's law (theta 1.2). In fio-randrw
  all threads draw offsets in one file of 640 MiB uniformly.
- Warm-up: slices of an eighth of the operations.
- Operations: each read and each write of 4 KiB counts as one.
- Check: read all files back and compare every byte. Each block holds its file and
  number at all times, which each measured read checks at both of its ends.

Limits

- The files are much smaller than the paper's, to fit into the machine.
- The seed changes the random offsets and the order of reads and writes, not what
  is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

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

BLOCK = 4096
FILES = "/data/blocks"
COUNT = re.compile(r"^(read|write|verified) (\d+)$", re.M)


@dataclass(frozen=True)
class Job:
    """What the threads do: see workloads/src/blocks.c.

    `rate` is the number of reads and writes of all threads in a second under all-fast. Files of
    the sequential and of the random threads have so many MiB. `zipf` is theta, or 0.
    """

    rate: int
    sequential: int
    sequential_mib: int
    random: int
    random_mib: int
    zipf: float
    shared: bool = False

    @property
    def threads(self) -> int:
        """Return the number of threads."""
        return self.sequential + self.random

    def operations(self, size: Size) -> int:
        """Return the number of reads and writes of each thread."""
        return -(-size.operations_at(self.rate) // self.threads)

    def blocks(self, size: Size) -> int:
        """Return the number of blocks of all files."""
        files = 1 if self.shared else self.random
        return self.sequential * _blocks(self.sequential_mib, size) + files * _blocks(
            self.random_mib, size
        )

    def command(self, what: str, size: Size, options: str = "") -> str:
        """Return the script of a command of the program."""
        return (
            f"cd {FILES}\nblocks {what} sequential={self.sequential} random={self.random} "
            f"sequential_blocks={_blocks(self.sequential_mib, size)} "
            f"random_blocks={_blocks(self.random_mib, size)} zipf={round(10 * self.zipf)} "
            f"shared={int(self.shared)} {options}\n"
        )

    def run(self, size: Size, seed: str) -> str:
        """Return the script of a run of a size."""
        return self.command("run", size, f"operations={self.operations(size)} seed={seed}")


FILEBENCH = Job(rate=3_500_000, sequential=8, sequential_mib=12, random=8, random_mib=60, zipf=1.2)
RANDRW = Job(
    rate=3_000_000, sequential=0, sequential_mib=0, random=16, random_mib=640, zipf=0, shared=True
)


def _blocks(mib: int, size: Size) -> int:
    return size.loaded(mib << 20) // BLOCK


def _setup(size: Size, seed: int, *, job: Job) -> str:
    # Otherwise Linux slows down writers to the disk's speed, and figures would be the disk's.
    unlimited = "echo 100 >/proc/sys/vm/dirty_ratio\n"
    return f"{unlimited}mkdir {FILES}\n{job.command('load', size)}"


def _warm_up(size: Size, seed: int, *, job: Job) -> str:
    return job.run(size.slice(), f"$(({seed} + {WARM_SEED} * $1))")


def _measured(size: Size, seed: int, *, job: Job) -> str:
    return job.run(size, f"{seed}")


def _check(size: Size, seed: int, *, job: Job) -> str:
    return job.command("check", size)


def _outcome(printed: Mapping[str, str], size: Size, *, name: str, job: Job) -> Outcome:
    done = {kind: int(count) for kind, count in COUNT.findall(printed["measured"])}
    times, expected = histogram(printed["measured"]), job.threads * job.operations(size)
    counts = (done.get("read", 0) + done.get("write", 0), sum(times.values()))
    for count in counts:
        if count != expected:
            raise WorkloadFailed(f"{name}: {count} of {expected} blocks were read or written")
    if f"verified {job.blocks(size)}\n" not in printed["check"]:
        raise WorkloadFailed(
            f"{name}: not {job.blocks(size)} blocks were verified: {printed['check'][:200]}"
        )
    return Outcome(expected, percentiles(times))


def workloads() -> Iterable[Workload]:
    """Return filebench and fio-randrw."""
    for name, summary, job in (
        ("filebench", "as Filebench: 16 threads, 4 KiB, half sequential, half Zipf", FILEBENCH),
        ("fio-randrw", "uniform random reads and writes of one file (control)", RANDRW),
    ):
        yield Workload(
            name=name,
            summary=summary,
            packages=(),
            programs=("blocks.c",),
            setup=partial(_setup, job=job),
            warm_up=partial(_warm_up, job=job),
            slices_max=SLICES_MAX,
            measured=partial(_measured, job=job),
            check=partial(_check, job=job),
            outcome=partial(_outcome, name=name, job=job),
            instructions=8e9,
        )
