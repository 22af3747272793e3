# SPDX-License-Identifier: GPL-2.0
"""Outcomes of the workloads whose memory is their own: gups, btree, pagerank and bfs."""

from __future__ import annotations

import re

import pytest

from kloc.measure import served, workload
from kloc.measure.workload import FULL, LONG, QUICK, Outcome, Size, WorkloadFailed

GUPS = ("gups", "gups-base", "gups-graded", "gups-shift")
BTREE = ("btree", "btree-base")
GRAPH = {"pagerank": "ranks", "bfs": "tree"}
MIB = 1 << 20


def asked(name: str, size: Size = FULL) -> list[int]:
    """Return the numbers of the command that a workload's region gives to its program."""
    found = re.search(r'echo "run ([\d ]+)"', workload.load(name).measured(size, 7))
    assert found
    return [int(number) for number in found[1].split()]


def outcome(name: str, measured: str, check: str) -> Outcome:
    return workload.load(name).outcome({"measured": measured, "check": check}, FULL)


def options(name: str, size: Size = FULL) -> dict[str, str]:
    """Return the options of a workload's program."""
    return dict(re.findall(r"(\w+)=(\S+)", workload.load(name).setup(size, 1)))


@pytest.mark.parametrize("name", GUPS[:3])
def test_gups_counts_the_updates_of_all_threads(name: str) -> None:
    updates = 4 * asked(name)[0]
    found = outcome(name, f"part {updates} 500000000\n", f"updates 9999\nhuge {384 * MIB}\n")
    assert found == Outcome(updates, None, {"huge MiB": 384})


def test_gups_shift_tells_how_the_rate_changed() -> None:
    updates = 4 * asked("gups-shift")[0]
    parts = f"part {updates // 2} 200\npart {updates - updates // 2} 250\n"
    found = outcome("gups-shift", parts, "updates 9999\nhuge 0\n")
    assert found.operations == updates
    assert found.figures["rate after the move"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("parts", "check", "reason"),
    [
        (1, "gups: updates were lost, repeated or misplaced", "the check failed: gups: updates"),
        (2, "updates 9\nhuge 0\n", "were made"),
        (0, "updates 9\nhuge 0\n", "0 of [0-9]+ updates were made"),
    ],
)
def test_gups_that_did_not_do_its_work_fails(parts: int, check: str, reason: str) -> None:
    updates = 4 * asked("gups")[0]
    with pytest.raises(WorkloadFailed, match=reason):
        outcome("gups", f"part {updates} 500\n" * parts, check)


@pytest.mark.parametrize("size", [FULL, QUICK, LONG])
@pytest.mark.parametrize("name", GUPS)
def test_the_hot_set_of_gups_is_that_of_the_warm_up(name: str, size: Size) -> None:
    slices = workload.load(name).slices(size, 7)
    assert slices
    found = re.search(r'echo "run (\d+) (\$\(\(.*\)\)) (\d+) (\d+)"', slices)
    assert found
    updates, seed, places, moves = asked(name, size)
    assert (int(found[3]), int(found[4])) == (places, 0)
    assert found[2] == "$((7 + 1000 * $1))" and (seed, places) == (7, 7)
    assert moves == (name == "gups-shift")
    assert 8 * int(found[1]) == pytest.approx(updates, rel=0.01)


@pytest.mark.parametrize("size", [FULL, QUICK])
def test_the_tables_of_gups_are_alike_and_can_be_divided(size: Size) -> None:
    blocks = {name: int(options(name, size)["blocks"]) for name in GUPS}
    (count,) = set(blocks.values())
    assert count % 8 == 0
    if size == FULL:
        assert count * 4 * 2 == 384
    assert int(options("gups", size)["hot"]) * 4 == count
    assert options("gups-graded")["classes"] == "8" and options("gups-graded")["ratio"] == "4"


@pytest.mark.parametrize("name", ["gups", "btree"])
def test_base_pages_are_the_only_difference_of_the_variant(name: str) -> None:
    huge, base = options(name), options(f"{name}-base")
    assert huge.pop("huge") == "1" and base.pop("huge") == "0"
    assert huge == base


@pytest.mark.parametrize("name", BTREE)
def test_btree_counts_the_lookups_of_all_threads(name: str) -> None:
    lookups, keys = 4 * asked(name)[0], options(name)["keys"]
    check = f"keys {keys}\nhuge {2 * MIB}\n"
    assert outcome(name, f"lookups {lookups}\n", check) == Outcome(lookups, None, {"huge MiB": 2})
    with pytest.raises(WorkloadFailed, match=f"not {lookups} look-ups; it said: lookups 7"):
        outcome(name, "lookups 7\n", check)
    with pytest.raises(WorkloadFailed, match=f"not {keys} keys at the end; it said: btree: key 7"):
        outcome(name, f"lookups {lookups}\n", "btree: key 7: not in its place\n")


@pytest.mark.parametrize("name", GRAPH)
def test_a_graph_workload_counts_the_neighbours_that_were_looked_at(name: str) -> None:
    runs = asked(name)[0]
    measured, check = f"edges 900\nreached 80\nruns {runs}\n", f"{GRAPH[name]} 50\nhuge {MIB}\n"
    assert outcome(name, measured, check) == Outcome(900, None, {"huge MiB": 1})
    with pytest.raises(WorkloadFailed, match=f"not {runs} runs; it said: edges 9"):
        outcome(name, f"edges 900\nruns {runs + 1}\n", check)
    with pytest.raises(WorkloadFailed, match="the check failed: graph: vertex 7: its"):
        outcome(name, measured, "graph: vertex 7: its rank differs\n")


@pytest.mark.parametrize("name", GRAPH)
@pytest.mark.parametrize(("size", "scale", "runs"), [(FULL, 21, 8), (QUICK, 19, 8), (LONG, 21, 32)])
def test_a_quarter_of_the_graph_has_a_quarter_of_the_vertices(
    name: str, size: Size, scale: int, runs: int
) -> None:
    prepare = workload.load(name).prepare
    assert prepare and f"scale={scale} degree=16" in prepare(size, 1)
    assert asked(name, size) == [runs, 7]


def test_both_graph_workloads_prepare_the_same_graph() -> None:
    scripts = [workload.load(name).prepare for name in GRAPH]
    assert len({script(FULL, 1) for script in scripts if script}) == 1


def test_a_server_that_answers_an_error_fails_its_script() -> None:
    script = served.ask("run 1", "done")
    assert script.startswith(f'echo "run 1" >{served.ASK}\n')
    assert script.endswith("grep -q '^done' /run/kloc/said\n")
