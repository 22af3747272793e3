# SPDX-License-Identifier: GPL-2.0
"""pagerank and bfs: two algorithms of the GAP benchmark suite, on a graph of Graph500.

A C program of our own does both (workloads/src/graph.c), with threads of POSIX.

- Prepared on the disk: a Kronecker graph of 2^21 vertices and 16 times as many edges,
  with Graph500's parameters (A = 0.57, B = C = 0.19), renumbered at random. Loops and
  repeated edges are removed. Without them it has 64 million neighbours in rows
  (compressed sparse rows), 258 MiB with the places of the rows.
- Load: four threads read the graph into huge pages (MADV_HUGEPAGE), without the page
  cache. The arrays of the algorithm are allocated after it.
- Warm-up: slices of an eighth of the iterations or searches.
- Operations: each neighbour of a vertex that is looked at counts as one (Graph500's
  traversed edges, each in both directions). No latencies are taken.

pagerank  ranks of all vertices, by pulling from their neighbours; two arrays of 16 MiB
  - Measured: 8 iterations, from equal ranks on. The neighbours are read in sequence, and
    the ranks that they have at random. The few vertices with many neighbours are hot.
  - Check: one thread repeats the last iteration. Its ranks are the same, bit for bit,
    and add up to 1, to within 1e-9.

bfs       breadth-first search, level by level (top-down); arrays of 8, 8 and 8 MiB
  - Measured: 8 searches one after the other, from roots that the seed draws. The rows of
    reached vertices are read in random order, and the parents at random.
  - Check: the tree of the last search is validated as Graph500 says: its edges are
    edges of the graph and join levels that differ by one, and every edge of the graph
    joins levels that differ by at most one, or two vertices that were not reached.

Limits

- The seed does not change the ranks, only the vertices with which an iteration begins.
- GAP's search goes bottom-up in levels with many vertices, and looks at fewer neighbours.
- The region has a fixed number of iterations or searches. One takes 0.18 s (pagerank) or
  0.16 s (bfs) under all-fast, so that the region is longer than half a second.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kloc.measure import served
from kloc.measure.workload import (
    REGION,
    SLICES,
    WARM_SEED,
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
)

THREADS = 4
VERTICES = 1 << 21
# Edges drawn for each vertex.
DEGREE = 16
FILE = "/data/graph"
LINE = re.compile(r"^(\w+) (\d+)$", re.M)


def _scale(size: Size) -> int:
    """Return the binary logarithm of the number of vertices."""
    return round(math.log2(size.loaded(VERTICES)))


def _count(size: Size) -> int:
    """Return the iterations or searches, which take longer the larger the graph is."""
    return max(1, round(SLICES * size.seconds / REGION / size.load))


def _prepare(size: Size, seed: int) -> str:
    return f"graph make file={FILE} scale={_scale(size)} degree={DEGREE}\n"


@dataclass(frozen=True)
class Algorithm:
    """One of the two. `checked` is what begins the answer of its check."""

    name: str
    summary: str
    checked: str
    instructions: float

    def setup(self, size: Size, seed: int) -> str:
        """Return the script that starts the program and waits until it has read the graph."""
        return served.start(f"graph serve file={FILE} for={self.name} threads={THREADS} huge=1")

    def warm_up(self, size: Size, seed: int) -> str:
        """Return the script of a slice."""
        return served.ask(f"run {_count(size.slice())} $(({seed} + {WARM_SEED} * $1))", "edges")

    def measured(self, size: Size, seed: int) -> str:
        """Return the script of the region."""
        return served.ask(f"run {_count(size)} {seed}", "edges")

    def check(self, size: Size, seed: int) -> str:
        """Return the script that checks the last run and ends the program."""
        return served.ask("stop", self.checked)

    def outcome(self, printed: Mapping[str, str], size: Size) -> Outcome:
        """Return the neighbours that were looked at; raise WorkloadFailed if the check failed."""
        done = {name: int(count) for name, count in LINE.findall(printed["measured"])}
        if done.get("runs") != _count(size) or not done.get("edges"):
            raise WorkloadFailed(
                f"{self.name}: not {_count(size)} runs; it said: {printed['measured'][:200]}"
            )
        found = {name: int(count) for name, count in LINE.findall(printed["check"])}
        if not found.get(self.checked) or "huge" not in found:
            raise WorkloadFailed(f"{self.name}: the check failed: {printed['check'][:200]}")
        return Outcome(done["edges"], None, {"huge MiB": found["huge"] / (1 << 20)})


ALGORITHMS = (
    Algorithm("pagerank", "PageRank of a Kronecker graph, by pulling", "ranks", 10e9),
    Algorithm("bfs", "breadth-first search of a Kronecker graph, top-down", "tree", 15e9),
)


def workloads() -> Iterable[Workload]:
    """Return pagerank and bfs."""
    for one in ALGORITHMS:
        yield served.workload(one, "graph.c", one.instructions, prepare=_prepare, not_native="")
