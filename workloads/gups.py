# SPDX-License-Identifier: GPL-2.0
"""gups: random updates of a table, after RandomAccess of the HPC Challenge.

Papers on memory tiering add a hot set to it, for example HeMem (SOSP 2021). It tells
how well a policy finds hot memory, and how soon: nothing else is in the way. A C
program of our own does it (workloads/src/gups.c).

- Load: a table of 384 MiB, in blocks of 2 MiB. Four threads have a quarter of the
  blocks each, which no other thread uses, so that every update can be checked. Each
  thread writes all of its blocks, in the order of their addresses.
- Warm-up: slices of an eighth of the updates, with the same hot set.
- Measured: each thread reads, changes and writes words of 8 bytes at random. 90 % of
  the updates go to the hot set, a quarter of each thread's blocks, drawn by the seed.
- Operations: each update counts as one. No latencies are taken.
- Check: two sums of the table say that each update was made once, in its place.

gups        the table is in huge pages (MADV_HUGEPAGE), and a block is one of them
gups-base   the same in base pages (MADV_NOHUGEPAGE)
gups-graded the blocks are divided into eight classes of equal size, at random. A block
            is updated a quarter as often as one of the class before. So it is known
            how many updates a second any share of the memory gets.
gups-shift  in the middle of the region the hot set moves to other blocks, of which
            none was hot before

`kloc compare --details` shows how much memory was in huge pages at the end (`huge MiB`),
and how the rate changed when the hot set moved (`rate after the move`, as a share of
the rate before).

Limits

- Threads share no memory.
- A policy that splits huge pages is not told from a kernel that had none to give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kloc.measure import served
from kloc.measure.workload import (
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
)

THREADS = 4
# Blocks of a thread in each of the eight classes, or in an eighth of its table.
BLOCKS = 6
CLASSES = 8
# How many of the eight parts are hot, and how many of 1000 updates go to them.
HOT = 2
SHARE = 900
# How many times as hot a class is as the next one.
RATIO = 4
PART = re.compile(r"^part (\d+) (\d+)$", re.M)
HUGE = re.compile(r"^huge (\d+)$", re.M)


@dataclass(frozen=True)
class Gups:
    """A variant of gups. `rate` is its updates a second under all-fast, of all threads together."""

    name: str
    summary: str
    rate: float
    huge: bool = True
    graded: bool = False
    moves: bool = False

    def setup(self, size: Size, seed: int) -> str:
        """Return the script that starts the program and waits until it has written its table."""
        blocks = size.loaded(BLOCKS)
        classes = f"classes={CLASSES} ratio={RATIO}" if self.graded else _hot(blocks)
        return served.start(
            f"gups threads={THREADS} huge={self.huge:d} blocks={CLASSES * blocks} {classes}"
        )

    def updates(self, size: Size) -> int:
        """Return the measured updates of a thread."""
        return -(-size.operations_at(self.rate) // THREADS)

    def warm_up(self, size: Size, seed: int) -> str:
        """Return the script of a slice. The hot set is that of the region."""
        run = f"run {self.updates(size.slice())} $(({seed} + {WARM_SEED} * $1)) {seed} 0"
        return served.ask(run, "part")

    def measured(self, size: Size, seed: int) -> str:
        """Return the script of the region."""
        return served.ask(f"run {self.updates(size)} {seed} {seed} {self.moves:d}", "part")

    def check(self, size: Size, seed: int) -> str:
        """Return the script that checks the table and ends the program."""
        return served.ask("stop", "updates")

    def outcome(self, printed: Mapping[str, str], size: Size) -> Outcome:
        """Return the updates; raise WorkloadFailed unless all were made and the table is right."""
        parts = [(int(count), int(ns)) for count, ns in PART.findall(printed["measured"])]
        done, expected = sum(count for count, _ in parts), THREADS * self.updates(size)
        if done != expected or len(parts) != 1 + self.moves:
            raise WorkloadFailed(f"{self.name}: {done} of {expected} updates were made")
        huge = HUGE.search(printed["check"])
        if huge is None:
            raise WorkloadFailed(f"{self.name}: the check failed: {printed['check'][:200]}")
        figures = {"huge MiB": int(huge[1]) / (1 << 20)}
        if self.moves:
            before, after = (count / ns for count, ns in parts)
            figures["rate after the move"] = after / before
        return Outcome(done, None, figures)


def _hot(blocks: int) -> str:
    """Return the options of the hot set, if a thread has so many blocks in each part."""
    return f"hot={HOT * blocks} share={SHARE}"


GUPS = (
    Gups("gups", "random updates of a table in huge pages; a quarter of it gets 90 %", 170e6),
    Gups("gups-base", "gups in base pages", 122e6, huge=False),
    Gups(
        "gups-graded",
        "gups with eight classes of memory, each a quarter as hot as the one before",
        170e6,
        graded=True,
    ),
    Gups("gups-shift", "gups whose hot set moves in the middle of the region", 170e6, moves=True),
)


def workloads() -> Iterable[Workload]:
    """Return gups and its variants."""
    for one in GUPS:
        yield served.workload(one, "gups.c", 6e9, not_native="")
