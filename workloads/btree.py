# SPDX-License-Identifier: GPL-2.0
"""btree: random look-ups in a B+tree in memory, as of an index of a database.

Papers on page tables and on memory tiering use such a program, for example Mitosis
(ASPLOS 2020) and vMitosis (ASPLOS 2021). A C program of our own does it
(workloads/src/btree.c).

- Load: build a tree of 25 million keys of 8 bytes, with values of 8 bytes, from sorted
  keys. A node has 16 keys. The leaves are 384 MiB, the levels above them 26 MiB.
- Warm-up: slices of an eighth of the look-ups.
- Measured: four threads look up keys drawn uniformly. A look-up visits a node on each
  of seven levels. No leaf is hot; the levels above are, the more the higher they are.
- Operations: each look-up counts as one. No latencies are taken.
- Check: each look-up found its value. At the end all keys and values are compared.

btree      the tree is in huge pages (MADV_HUGEPAGE)
btree-base the same in base pages (MADV_NOHUGEPAGE)

`kloc compare --details` shows how much memory was in huge pages at the end (`huge MiB`).

Limits

- Each level has memory of its own, as in a tree that is built from sorted keys. In one
  that grew by insertions, hot nodes and cold ones would share pages.
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
KEYS = 16 * 1_572_864
CHECKED = re.compile(r"^keys (\d+)\nhuge (\d+)$", re.M)


@dataclass(frozen=True)
class Btree:
    """A variant of btree. `rate` is its look-ups a second under all-fast, of all threads."""

    name: str
    summary: str
    rate: float
    huge: bool

    def setup(self, size: Size, seed: int) -> str:
        """Return the script that starts the program and waits until it has built its tree."""
        return served.start(f"btree threads={THREADS} huge={self.huge:d} keys={size.loaded(KEYS)}")

    def lookups(self, size: Size) -> int:
        """Return the measured look-ups of a thread."""
        return -(-size.operations_at(self.rate) // THREADS)

    def warm_up(self, size: Size, seed: int) -> str:
        """Return the script of a slice."""
        run = f"run {self.lookups(size.slice())} $(({seed} + {WARM_SEED} * $1))"
        return served.ask(run, "lookups")

    def measured(self, size: Size, seed: int) -> str:
        """Return the script of the region."""
        return served.ask(f"run {self.lookups(size)} {seed}", "lookups")

    def check(self, size: Size, seed: int) -> str:
        """Return the script that compares all keys and ends the program."""
        return served.ask("stop", "keys")

    def outcome(self, printed: Mapping[str, str], size: Size) -> Outcome:
        """Return the look-ups; raise WorkloadFailed unless all were made and the tree is right."""
        lookups = THREADS * self.lookups(size)
        if f"lookups {lookups}\n" not in printed["measured"]:
            raise WorkloadFailed(
                f"{self.name}: not {lookups} look-ups; it said: {printed['measured'][:200]}"
            )
        checked = CHECKED.search(printed["check"])
        if checked is None or int(checked[1]) != size.loaded(KEYS):
            raise WorkloadFailed(
                f"{self.name}: not {size.loaded(KEYS)} keys at the end; "
                f"it said: {printed['check'][:200]}"
            )
        return Outcome(lookups, None, {"huge MiB": int(checked[2]) / (1 << 20)})


BTREES = (
    Btree("btree", "random look-ups in a B+tree of 410 MiB, in huge pages", 13e6, huge=True),
    Btree("btree-base", "btree in base pages", 11.5e6, huge=False),
)


def workloads() -> Iterable[Workload]:
    """Return btree and btree-base."""
    for one in BTREES:
        yield served.workload(one, "btree.c", 5e9, not_native="")
