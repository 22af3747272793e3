# SPDX-License-Identifier: GPL-2.0
"""Reads and writes through the page cache, by fio: fio-randrw, seqread and randread.

fio-randrw is a control: all offsets in one large file are equally likely. No page is hotter than
another, so a policy gains nothing by finding hot pages.

- Load: write the file. It is in page cache afterwards.
- Measured: 16 threads do the same number of reads and writes of 4 KiB each, half of
  them reads, at uniform offsets in one file of 640 MiB.

seqread and randread have the files on disk, and nothing of them in memory, when they start: the
first slice of the warm-up reads them with readahead, and the rest reads page cache (KLOCs, draft,
section 6.5).

- Prepared, once for all policies: write four files of 128 MiB.
- Measured: 4 threads read, each its own file. seqread: blocks of 64 KiB from the beginning to
  the end, again and again. randread: blocks of 4 KiB at uniform offsets.

All three:

- Start, not measured: start the fio that is measured, whose threads wait for the measured
  phase. The first slice of the warm-up does that, because fio sleeps for 0.35 s when it starts.
- Warm-up: slices of an eighth of the operations. A slice of seqread reads each file at least once.
- Operations: each read and each write of a block counts as one. Latencies are fio's
  completion latencies.
- Check: read the files back. Each block holds its own offset at all times, by fio's
  verify_pattern.

Limits

- fio sleeps for 0.35 s when it starts, in each slice of the warm-up. So the kernel has more
  idle time there than under other workloads. A slice ends when the threads are done. Its fio
  sleeps for 0.35 s before it ends, and does so in the next slice, or in the measured phase: a
  process that exits.
- The seed changes the random offsets and the order of reads and writes, not what
  is loaded. seqread does the same with each seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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

# FIFOs: the threads wait on GO for the measured phase, and each reports its end on DONE.
GO, DONE = "/run/kloc/go", "/run/kloc/done"
REPORT = "/run/kloc/fio.json"

NAME = "one"
"""The name of fio's job, and of its files."""

VERIFIABLE = "--verify=pattern --verify_pattern=%o"
"""Each block holds its offset. Threads that read would compare with the offset of another one, as
they share the pattern; processes do not.
"""


@dataclass(frozen=True)
class Job:
    """A workload of one job of fio.

    `rw` is what its `threads` do, with blocks of `block` bytes, `rate` of them each in a second
    under all-fast. Each thread has a file of `file_mib` MiB of its own, or all share one.
    """

    name: str
    summary: str
    rw: str
    block: int
    threads: int
    rate: int
    file_mib: int
    is_shared: bool
    instructions: float

    def _operations(self, size: Size) -> int:
        """Return the number of reads and writes of each thread."""
        return size.operations_at(self.rate)

    def _blocks(self, size: Size) -> int:
        """Return the number of blocks of a file."""
        return size.loaded(self.file_mib << 20) // self.block

    def _options(self, size: Size, rw: str, threads: int) -> str:
        """Return the options of fio's only job, which verifies nothing."""
        # Without a name, the files of the threads are NAME.0.0, NAME.1.0 and so on.
        files = f"--filename=/data/{NAME}.0" if self.is_shared else "--directory=/data"
        return (
            f"--name={NAME} {files} --ioengine=psync --bs={self.block} "
            f"--size={self._blocks(size) * self.block} --rw={rw} --numjobs={threads} "
            # Use the existing files, and keep the page cache that the load left.
            "--fallocate=none --invalidate=0 --norandommap --group_reporting"
        )

    @property
    def _files(self) -> int:
        return 1 if self.is_shared else self.threads

    def load(self, size: Size, seed: int) -> str:
        """Return the script that writes the files."""
        job = self._options(size, "write", self._files)
        return f"fio {job} {VERIFIABLE} --do_verify=0 --minimal >/dev/null\n"

    def _run(self, size: Size, seed: str) -> str:
        """Return the options of fio with threads that report their end on DONE."""
        job = f"{self._options(size, self.rw, self.threads)} --thread=1"
        if self.rw == "randrw":
            # What it writes has to be verifiable, too.
            job += f" {VERIFIABLE} --do_verify=0"
        # fio appends a redirection to such a command; the braces protect ours.
        ended = f"--exec_postrun='{{ echo >{DONE}; }}'"
        io_size = self._operations(size) * self.block
        return f"{job} --io_size={io_size} --randseed={seed} {ended}"

    @property
    def _wait(self) -> str:
        # A process that ends with an error says "failed" on DONE. Opened both ways, DONE does not
        # end when one thread has written to it.
        return f"""
for thread in $(seq {self.threads}); do read done <&3; test "$done" != failed; done
"""

    def warm_up(self, size: Size, seed: int) -> str:
        """Return the script of a slice. The first one starts the fio of the measured phase, too."""
        slice_seed = f"$(({seed} + {WARM_SEED} * $1))"
        return f"""
if [ "$1" = 1 ]; then
{self.start(size, seed)}
fi
exec 3<>{DONE}
fio {self._run(size.slice(), slice_seed)} --minimal >/dev/null || echo failed >&3 &
{self._wait}"""

    def start(self, size: Size, seed: int) -> str:
        """Return the script that starts fio and waits until all its threads wait on GO.

        It does nothing if the warm-up has done that already.
        """
        wait = f"--exec_prerun='{{ read go <{GO}; }}; :'"
        output = f"--output-format=json+ --output={REPORT}.draft"
        return f"""
if ! [ -e {GO} ]; then
    mkfifo {GO} {DONE}
    fio {self._run(size, str(seed))} {wait} {output} >/run/kloc/fio.log 2>&1 \\
        && mv {REPORT}.draft {REPORT} || echo failed >{DONE} &
    until [ "$(pgrep -c -f '^sh -c .*read go')" = {self.threads} ]; do sleep 0.05; done
fi
"""

    def measured(self, size: Size, seed: int) -> str:
        """Return the script of the measured phase."""
        return f"""
exec 3<>{DONE}
: >{GO}
{self._wait}"""

    def check(self, size: Size, seed: int) -> str:
        """Return the script that prints fio's report, reads the files back and compares them."""
        verify = self._options(size, "read", self._files)
        return f"""
while pgrep -x fio >/dev/null; do sleep 0.05; done
cat /run/kloc/fio.log
fio {verify} {VERIFIABLE} --verify_fatal=1 --output-format=json --output=/run/kloc/verified.json
cat {REPORT} /run/kloc/verified.json
"""

    def outcome(self, printed: Mapping[str, str], size: Size) -> Outcome:
        """Return the work that was done; raise WorkloadFailed if it was not."""
        try:
            done, verified = _reports(printed["check"])
        except ValueError as error:
            what = f"{self.name}: fio left no report:\n{printed['check']}"
            raise WorkloadFailed(what) from error
        operations = self.threads * self._operations(size)
        self._expect(done, operations, "read or written")
        self._expect(verified, self._files * self._blocks(size), "verified")
        histogram: dict[tuple[float, float], int] = {}
        for direction in ("read", "write"):
            # There are none for what a job does not do.
            for ns, count in done[direction]["clat_ns"].get("bins", {}).items():
                bucket = (float(ns), float(ns))
                histogram[bucket] = histogram.get(bucket, 0) + count
        return Outcome(operations, percentiles(histogram))

    def _expect(self, report: Mapping[str, Any], blocks: int, word: str) -> None:
        """Raise WorkloadFailed unless fio reports so many blocks and no error."""
        if report["error"]:
            raise WorkloadFailed(f"{self.name}: fio failed before all was {word}")
        count = report["read"]["total_ios"] + report["write"]["total_ios"]
        if count != blocks:
            raise WorkloadFailed(f"{self.name}: {count} of {blocks} blocks were {word}")

    def workload(self) -> Workload:
        """Return the workload. Only a shared file is loaded in each run."""
        return Workload(
            name=self.name,
            summary=self.summary,
            packages=("fio",),
            prepare=None if self.is_shared else self.load,
            setup=self.load if self.is_shared else lambda size, seed: ":\n",
            warm_up=self.warm_up,
            slices_max=SLICES_MAX,
            start=self.start,
            measured=self.measured,
            check=self.check,
            outcome=self.outcome,
            instructions=self.instructions,
            not_native="",
        )


JOBS = (
    Job(
        name="fio-randrw",
        summary="fio: uniform random reads and writes of one file (control)",
        rw="randrw",
        block=4096,
        threads=16,
        rate=70_000,
        file_mib=640,
        is_shared=True,
        instructions=8e9,
    ),
    Job(
        name="seqread",
        summary="fio: four threads read a file each, from the beginning to the end, all the time",
        rw="read",
        block=65536,
        threads=4,
        rate=58_000,
        file_mib=128,
        is_shared=False,
        instructions=6e9,
    ),
    Job(
        name="randread",
        summary="fio: four threads read a file each, at random",
        rw="randread",
        block=4096,
        threads=4,
        rate=650_000,
        file_mib=128,
        is_shared=False,
        instructions=14e9,
    ),
)


def _reports(text: str) -> list[Mapping[str, Any]]:
    """Return fio's JSON reports of its job in `text`; skip all other output."""
    reports, decoder = [], json.JSONDecoder()
    at = text.find("{\n")
    while at >= 0:
        report, end = decoder.raw_decode(text, at)
        reports += [each for each in report["jobs"] if each["jobname"] == NAME]
        at = text.find("{\n", end)
    return reports


def workloads() -> Iterable[Workload]:
    """Return fio-randrw, seqread and randread."""
    return [job.workload() for job in JOBS]
