# SPDX-License-Identifier: GPL-2.0
"""filebench: reads and writes of 4 KiB through the page cache, in files of many threads.

It models the Filebench run of KLOCs (ASPLOS 2021), table 3: "16 threads, 13.0GB
per-thread, executing 50% sequential and random reads", with writes as in its section
3.1: "16 threads to read and write 4KB blocks to separate files". Debian has no
Filebench, so a C program of our own does the same work (workloads/src/blocks.c).

- Load: write all files, concurrently. They are in page cache afterwards. Linux writes
  dirty pages to the disk in the background, and does not slow down the writers
  (vm.dirty_ratio is 100).
- Measured: 16 threads do the same number of reads and writes of 4 KiB each, half of
  them reads, each thread in a file of its own. 8 threads go through files of 12 MiB in
  sequence, and 8 threads draw offsets in files of 60 MiB by Zipf's law (theta 1.2).
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
# Threads of each kind, and the MiB of each of their files.
SEQUENTIAL, SEQUENTIAL_MIB = 8, 12
RANDOM, RANDOM_MIB = 8, 60
# Theta of Zipf's law, times ten.
ZIPF = 12
# Reads and writes a second of all threads together under all-fast.
RATE = 3_500_000
COUNT = re.compile(r"^(read|write|verified) (\d+)$", re.M)


def _blocks(mib: int, size: Size) -> int:
    return size.loaded(mib << 20) // BLOCK


def _operations(size: Size) -> int:
    """Return the number of reads and writes of each thread."""
    return -(-size.operations_at(RATE) // (SEQUENTIAL + RANDOM))


def _command(what: str, size: Size, options: str = "") -> str:
    """Return the script of a command of the program."""
    return (
        f"cd {FILES}\nblocks {what} sequential={SEQUENTIAL} random={RANDOM} "
        f"sequential_blocks={_blocks(SEQUENTIAL_MIB, size)} "
        f"random_blocks={_blocks(RANDOM_MIB, size)} zipf={ZIPF} {options}\n"
    )


def _run(size: Size, seed: str) -> str:
    return _command("run", size, f"operations={_operations(size)} seed={seed}")


def _setup(size: Size, seed: int) -> str:
    # Otherwise Linux slows down writers to the disk's speed, and figures would be the disk's.
    unlimited = "echo 100 >/proc/sys/vm/dirty_ratio\n"
    return f"{unlimited}mkdir {FILES}\n{_command('load', size)}"


def _warm_up(size: Size, seed: int) -> str:
    """Return the script of a slice."""
    return _run(size.slice(), f"$(({seed} + {WARM_SEED} * $1))")


def _measured(size: Size, seed: int) -> str:
    return _run(size, f"{seed}")


def _check(size: Size, seed: int) -> str:
    return _command("check", size)


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    done = {kind: int(count) for kind, count in COUNT.findall(printed["measured"])}
    times = histogram(printed["measured"])
    expected = (SEQUENTIAL + RANDOM) * _operations(size)
    for count in (done.get("read", 0) + done.get("write", 0), sum(times.values())):
        if count != expected:
            raise WorkloadFailed(f"filebench: {count} of {expected} blocks were read or written")
    blocks = SEQUENTIAL * _blocks(SEQUENTIAL_MIB, size) + RANDOM * _blocks(RANDOM_MIB, size)
    if f"verified {blocks}\n" not in printed["check"]:
        raise WorkloadFailed(
            f"filebench: not {blocks} blocks were verified: {printed['check'][:200]}"
        )
    return Outcome(expected, percentiles(times))


def workloads() -> Iterable[Workload]:
    """Return filebench."""
    yield Workload(
        name="filebench",
        summary="as Filebench: 16 threads, 4 KiB, half sequential, half Zipf",
        packages=(),
        programs=("blocks.c",),
        setup=_setup,
        warm_up=_warm_up,
        slices_max=SLICES_MAX,
        measured=_measured,
        check=_check,
        outcome=_outcome,
        instructions=8e9,
        not_native="it changes vm.dirty_ratio, which is not restored",
    )
