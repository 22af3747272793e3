# SPDX-License-Identifier: GPL-2.0
"""The C programs of workloads that are servers: what they do, and what their checks find."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kloc.build import programs
from kloc.build.root import Root
from kloc.measure.workload import SOURCES
from support import sanitized

BLOCK_WORDS = 1 << 18
HUGE = 2 << 20
TIMEOUT = 100


@dataclass(frozen=True)
class Server:
    """A program that runs, with its FIFOs in a directory."""

    directory: Path
    process: subprocess.Popen[str]

    def answer(self) -> str:
        """Return the next answer."""
        return subprocess.run(
            ["cat", "answer"], cwd=self.directory, capture_output=True, text=True, timeout=TIMEOUT
        ).stdout

    def ask(self, command: str) -> str:
        """Send a command, and return the answer."""
        subprocess.run(
            ["sh", "-c", 'echo "$1" >ask', "sh", command], cwd=self.directory, timeout=TIMEOUT
        )
        return self.answer()

    def memory(self, size: int) -> int:
        """Return the address of the program's largest memory, which must have `size` bytes."""
        maps = Path(f"/proc/{self.process.pid}/maps").read_text().splitlines()
        ranges = [
            tuple(int(end, 16) for end in line.split()[0].split("-"))
            for line in maps
            if len(line.split()) == 5 and " rw-p " in line
        ]
        start, end = max(ranges, key=lambda each: each[1] - each[0])
        start = -(-start // HUGE) * HUGE
        assert end - start >= size
        return start

    def read(self, at: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """Return words of the program's memory."""
        with Path(f"/proc/{self.process.pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(at)
            return np.frombuffer(memory.read(8 * count), np.uint64)

    def add(self, at: int, value: int) -> None:
        """Change a word of the program's memory."""
        changed = (int(self.read(at, 1)[0]) + value) % (1 << 64)
        with Path(f"/proc/{self.process.pid}/mem").open("r+b", buffering=0) as memory:
            memory.seek(at)
            memory.write(changed.to_bytes(8, "little"))


@contextmanager
def served(directory: Path, name: str, *arguments: str, ready: bool = True) -> Iterator[Server]:
    """Start a program in a directory and end it afterwards."""
    for fifo in ("ask", "answer"):
        (directory / fifo).unlink(missing_ok=True)
        os.mkfifo(directory / fifo)
    process = subprocess.Popen(
        [programs.build(SOURCES / f"{name}.c"), *arguments, "ask=ask", "answer=answer"],
        cwd=directory,
        text=True,
    )
    try:
        server = Server(directory, process)
        assert not ready or server.answer() == "ready\n"
        yield server
    finally:
        process.kill()
        process.wait()


HOT = ("threads=2", "blocks=8", "hot=2", "share=900")
GRADED = ("threads=2", "blocks=16", "classes=8", "ratio=4")
UPDATES = 100_000


def touched(server: Server, blocks: int) -> list[int]:
    """Return how many words of each block of gups have changed."""
    table = server.read(server.memory(blocks * HUGE), blocks * BLOCK_WORDS)
    changed = table != np.arange(blocks * BLOCK_WORDS, dtype=np.uint64)
    return [int(part.sum()) for part in changed.reshape(blocks, BLOCK_WORDS)]


def hot_blocks(counts: Sequence[int], number: int) -> set[int]:
    """Return the `number` blocks that were updated most."""
    return set(sorted(range(len(counts)), key=lambda at: -counts[at])[:number])


def test_gups_updates_the_hot_set_most_and_every_thread_has_one(
    tools: Root, tmp_path: Path
) -> None:
    with served(tmp_path, "gups", *HOT) as server:
        assert server.ask(f"run {UPDATES} 1 1 0").split()[:2] == ["part", f"{2 * UPDATES}"]
        counts = touched(server, 16)
        hot = hot_blocks(counts, 4)
        # Some words are drawn twice.
        assert sum(counts[at] for at in hot) / sum(counts) == pytest.approx(0.9, abs=0.03)
        assert sorted(at % 2 for at in hot) == [0, 0, 1, 1]
        # The same places with other updates.
        server.ask(f"run {UPDATES} 2 1 0")
        assert hot_blocks(touched(server, 16), 4) == hot
        assert server.ask("stop").startswith(f"updates {4 * UPDATES}\nhuge ")


def test_the_seed_of_the_places_chooses_the_hot_set(tools: Root, tmp_path: Path) -> None:
    found = []
    for places in (1, 2):
        with served(tmp_path, "gups", *HOT) as server:
            server.ask(f"run {UPDATES} 1 {places} 0")
            found.append(hot_blocks(touched(server, 16), 4))
    assert found[0] != found[1]


def test_the_hot_set_moves_to_blocks_that_were_not_hot(tools: Root, tmp_path: Path) -> None:
    with served(tmp_path, "gups", *HOT) as server:
        parts = server.ask(f"run {UPDATES} 1 1 1").splitlines()
        assert [part.split()[1] for part in parts] == [f"{UPDATES}"] * 2
        counts = touched(server, 16)
        # Two hot sets of four blocks each, of which each was hot for half of the time.
        hot = sorted(counts)[-8:]
        assert min(hot) > 4 * max(sorted(counts)[:8])
        assert max(hot) / min(hot) < 1.2
        assert "updates" in server.ask("stop")


def test_each_class_is_a_quarter_as_hot_as_the_one_before(tools: Root, tmp_path: Path) -> None:
    with served(tmp_path, "gups", *GRADED) as server:
        server.ask(f"run {UPDATES} 1 1 0")
        counts = sorted(touched(server, 32), reverse=True)
        classes = [sum(counts[at : at + 4]) for at in range(0, 16, 4)]
        for hotter, colder in pairwise(classes):
            assert hotter / colder == pytest.approx(4, rel=0.2)
        assert "updates" in server.ask("stop")


def test_threads_together_have_all_blocks_of_a_class(tools: Root, tmp_path: Path) -> None:
    with served(tmp_path, "gups", *GRADED) as server:
        server.ask("run 1 1 1 0")
        assert sum(touched(server, 32)) == 2


@pytest.mark.parametrize("changes", [{5: 1}, {5: 1, 6: -1}, {5: 1, 3 * BLOCK_WORDS: -1}])
def test_gups_finds_lost_and_misplaced_updates(
    tools: Root, tmp_path: Path, changes: Mapping[int, int]
) -> None:
    with served(tmp_path, "gups", *HOT) as server:
        server.ask(f"run {UPDATES} 1 1 0")
        table = server.memory(16 * HUGE)
        for word, value in changes.items():
            server.add(table + 8 * word, value)
        assert "updates were lost, repeated or misplaced" in server.ask("stop")
        assert server.process.wait(TIMEOUT) == 1


@pytest.mark.parametrize("keys", [1, 15, 16, 17, 256, 257, 70_000])
def test_btree_finds_all_keys(tools: Root, tmp_path: Path, keys: int) -> None:
    with served(tmp_path, "btree", f"keys={keys}", "threads=3") as server:
        assert server.ask("run 5000 1") == "lookups 15000\n"
        assert server.ask("stop").startswith(f"keys {keys}\nhuge ")


@pytest.mark.parametrize("command", ["run 100000 1", "stop"])
@pytest.mark.parametrize("word", [3, 16 + 3])
def test_btree_finds_a_wrong_key_and_a_wrong_value(
    tools: Root, tmp_path: Path, word: int, command: str
) -> None:
    keys = 2_000_000
    with served(tmp_path, "btree", f"keys={keys}") as server:
        leaves = server.memory(16 * keys)
        for leaf in range(100):
            server.add(leaves + 256 * leaf + 8 * word, 1)
        assert "with a wrong value" in server.ask(command)
        assert server.process.wait(TIMEOUT) == 1


@dataclass(frozen=True)
class Graph:
    """A graph in compressed sparse rows."""

    first: Sequence[int]
    neighbours: Sequence[int]

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return len(self.first) - 1

    def row(self, vertex: int) -> Sequence[int]:
        """Return the neighbours of a vertex."""
        return self.neighbours[self.first[vertex] : self.first[vertex + 1]]


def pages(words: np.ndarray[tuple[int], np.dtype[np.generic]]) -> bytes:
    """Return the bytes of an array, filled up to complete pages."""
    data = words.tobytes()
    return data + bytes(-len(data) % 4096)


def write_graph(path: Path, rows: Sequence[Sequence[int]]) -> None:
    """Write the file of a graph."""
    first = np.cumsum([0, *map(len, rows)], dtype=np.uint64)
    neighbours = np.array([each for row in rows for each in row], np.uint32)
    head = np.array([len(rows), len(neighbours)], np.uint64)
    path.write_bytes(pages(head) + pages(first) + pages(neighbours))


def read_graph(path: Path) -> Graph:
    """Read the file of a graph."""
    data = path.read_bytes()
    vertices, entries = map(int, np.frombuffer(data, np.uint64, 2))
    first = np.frombuffer(data, np.uint64, vertices + 1, 4096)
    place = 4096 + -(-(vertices + 1) * 8 // 4096) * 4096
    return Graph(first.tolist(), np.frombuffer(data, np.uint32, entries, place).tolist())


def make_graph(path: Path, scale: int) -> Graph:
    """Let the program make a graph."""
    program = programs.build(SOURCES / "graph.c")
    subprocess.run(
        [program, "make", f"file={path}", f"scale={scale}", "degree=16"],
        check=True,
        timeout=TIMEOUT,
    )
    return read_graph(path)


def test_a_kronecker_graph_is_symmetric_and_skewed(tools: Root, tmp_path: Path) -> None:
    graph = make_graph(tmp_path / "graph", 12)
    assert graph.vertices == 1 << 12
    rows = [graph.row(vertex) for vertex in range(graph.vertices)]
    assert all(list(row) == sorted(set(row)) for row in rows)
    edges = {(vertex, other) for vertex, row in enumerate(rows) for other in row}
    assert edges == {(other, vertex) for vertex, other in edges}
    assert not any(vertex == other for vertex, other in edges)
    # Most of the drawn edges are there, once in each direction.
    assert 0.6 * 2 * 16 < len(edges) / graph.vertices < 2 * 16
    degrees = sorted(map(len, rows))
    assert degrees[-1] > 20 * len(edges) / graph.vertices
    assert degrees[graph.vertices // 8] == 0
    # Vertices with many neighbours are spread over all numbers.
    many = [vertex for vertex, row in enumerate(rows) if len(row) > 200]
    assert 0.4 < np.mean(many) / graph.vertices < 0.6
    assert make_graph(tmp_path / "again", 12) == graph


def ranks_of(graph: Graph, iterations: int) -> list[float]:
    """Return PageRank after some iterations, in the plainest way."""
    ranks = [1 / graph.vertices] * graph.vertices
    for _ in range(iterations):
        alone = sum(rank for at, rank in enumerate(ranks) if not graph.row(at))
        base = (0.15 + 0.85 * alone) / graph.vertices
        ranks = [
            base + 0.85 * sum(ranks[other] / len(graph.row(other)) for other in graph.row(at))
            for at in range(graph.vertices)
        ]
    return ranks


@pytest.mark.parametrize(("iterations", "seed"), [(1, 1), (2, 5), (7, 2)])
def test_pagerank_is_that_of_a_serial_reference(
    tools: Root, tmp_path: Path, iterations: int, seed: int
) -> None:
    graph = make_graph(tmp_path / "graph", 11)
    options = ("serve", "file=graph", "for=pagerank", "threads=3", "out=ranks")
    with served(tmp_path, "graph", *options) as server:
        # Each run begins with equal ranks.
        server.ask("run 3 9")
        edges = iterations * len(graph.neighbours)
        assert server.ask(f"run {iterations} {seed}") == (
            f"edges {edges}\nreached {iterations * graph.vertices}\nruns {iterations}\n"
        )
        assert server.ask("stop").startswith(f"ranks {graph.vertices}\nhuge ")
    ranks = np.fromfile(tmp_path / "ranks")
    assert ranks == pytest.approx(ranks_of(graph, iterations), rel=1e-12)
    assert float(ranks.sum()) == pytest.approx(1, abs=1e-9)


def levels_of(graph: Graph, root: int) -> dict[int, int]:
    """Return how far from the root each vertex is."""
    levels, frontier = {root: 0}, [root]
    while frontier:
        found = {other for vertex in frontier for other in graph.row(vertex)} - levels.keys()
        levels |= dict.fromkeys(found, levels[frontier[0]] + 1)
        frontier = list(found)
    return levels


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_searches_find_shortest_paths(tools: Root, tmp_path: Path, threads: int, seed: int) -> None:
    graph = make_graph(tmp_path / "graph", 11)
    options = ("serve", "file=graph", "for=bfs", f"threads={threads}", "out=parents")
    with served(tmp_path, "graph", *options) as server:
        server.ask("run 3 9")
        lines = server.ask(f"run 1 {seed}").splitlines()
        tree = server.ask("stop").splitlines()[0]
    parents = np.fromfile(tmp_path / "parents", np.uint32).tolist()
    (root,) = [vertex for vertex, parent in enumerate(parents) if vertex == parent]
    levels = levels_of(graph, root)
    assert tree == f"tree {len(levels)}"
    edges = sum(len(graph.row(vertex)) for vertex in levels)
    assert lines == [f"edges {edges}", f"reached {len(levels)}", "runs 1"]
    assert {at for at, parent in enumerate(parents) if parent != 2**32 - 1} == levels.keys()
    for vertex in levels.keys() - {root}:
        assert parents[vertex] in graph.row(vertex)
        assert levels[vertex] == levels[parents[vertex]] + 1


@pytest.mark.parametrize(
    ("rows", "algorithm", "reason"),
    [
        # One direction of an edge is missing.
        ([[1], []], "bfs", "the edge to its parent is not in the graph"),
        ([[1], [0, 2], [1], [0]], "bfs", "only one was reached"),
        ([[1], [0, 2], [1, 3], [2, 4], [0, 3]], "bfs", "their levels differ by more than 1"),
        ([[1], [0, 2], []], "pagerank", "and not to 1"),
    ],
)
def test_the_check_finds_a_graph_that_is_not_symmetric(
    tools: Root, tmp_path: Path, rows: list[list[int]], algorithm: str, reason: str
) -> None:
    write_graph(tmp_path / "graph", rows)
    found = []
    # Some roots do not show it.
    for seed in range(1, 30):
        with served(tmp_path, "graph", "serve", "file=graph", f"for={algorithm}") as server:
            server.ask(f"run 1 {seed}")
            found.append(server.ask("stop"))
    assert any(reason in answer for answer in found)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([[1], [2]], "vertex 2 is out of range"), ([], "not a graph"), ([[], []], "no vertex has")],
)
def test_a_graph_that_cannot_be_searched_is_refused(
    tools: Root, tmp_path: Path, rows: list[list[int]], reason: str
) -> None:
    write_graph(tmp_path / "graph", rows)
    options = ("serve", "file=graph", "for=bfs")
    with served(tmp_path, "graph", *options, ready=False) as server:
        answer = server.answer()
        assert reason in (server.ask("run 1 1") if answer == "ready\n" else answer)
        assert server.process.wait(TIMEOUT) == 1


@pytest.mark.parametrize("name", ["gups", "btree", "graph"])
def test_a_command_that_does_not_exist_is_answered(tools: Root, tmp_path: Path, name: str) -> None:
    write_graph(tmp_path / "graph", [[1], [0]])
    options = {
        "gups": HOT,
        "btree": ("keys=100",),
        "graph": ("serve", "file=graph", "for=bfs"),
    }
    with served(tmp_path, name, *options[name]) as server:
        assert f"{name}: 'jump' is neither" in server.ask("jump")
        assert server.process.wait(TIMEOUT) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gups", ["blocks=8", "hot=8", "share=900"]),
        ("gups", ["blocks=8", "hot=2", "share=1000"]),
        ("gups", ["blocks=9", "classes=8", "ratio=4"]),
        ("btree", ["keys=0"]),
        ("graph", ["make", "file=x", "scale=40", "degree=16"]),
        ("graph", ["serve", "file=x", "for=nothing"]),
        ("graph", ["what", "file=x"]),
    ],
)
def test_settings_out_of_range_are_refused(
    tools: Root, tmp_path: Path, name: str, arguments: list[str]
) -> None:
    program = programs.build(SOURCES / f"{name}.c")
    done = subprocess.run(
        [program, *arguments, "ask=ask", "answer=answer"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"{name}: ")


INVALID = {
    "gups": ("threads=2 blocks=8 classes=8 ratio=4 huge=1", ["run 9999 1 1 0", "run 9 1 1 1"]),
    "btree": ("threads=2 keys=9999", ["run 9999 1"]),
    "pagerank": ("threads=2 file=/tmp/graph for=pagerank out=/tmp/out", ["run 3 1"]),
    "bfs": ("threads=2 file=/tmp/graph for=bfs huge=1 out=/tmp/out", ["run 3 1"]),
}
"""The options of each program, and what it is asked to do."""


@pytest.mark.parametrize("what", list(INVALID))
def test_they_do_nothing_invalid(tools: Root, tmp_path: Path, what: str) -> None:
    options, commands = INVALID[what]
    name = what if what in ("gups", "btree") else "graph"
    program = sanitized.build(name, tmp_path)
    graph = name == "graph"
    asked = "\n".join(f"ask {command}" for command in [*commands, "stop"])
    script = f"""
cd /tmp
{f"{program} make file=/tmp/graph scale=9 degree=16" if graph else ""}
mkfifo ask answer
{program} {"serve" if graph else ""} {options} ask=ask answer=answer &
cat answer
ask() {{ echo "$*" >ask; cat answer; }}
{asked}
wait $!
"""
    printed = tools.run(["timeout", f"{TIMEOUT}", "sh", "-e", "-c", script], binds=[tmp_path])
    assert "huge " in printed.splitlines()[-1]
