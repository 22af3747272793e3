# SPDX-License-Identifier: GPL-2.0
"""The search for the smallest fast memory: its grid, its bisection, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kloc.base.errors import UsageError
from kloc.machine import profile
from kloc.measure import policy, sizing, workload
from kloc.measure.sizing import FOUND, NO_SIZE, UNFINISHED, Sizing
from kloc.measure.task import Task
from support import made_up

MIB = 1 << 20

Curve = Callable[[int, int], float]
"""A slowdown in percent, by MiB of fast memory and seed."""


def search(*policies: str, bounds: tuple[float, ...] = (3, 10), seed: int = 1) -> Sizing:
    return Sizing(
        workload.load("gups"),
        tuple(policy.load(name) for name in policies or ("tpp",)),
        bounds,
        profile.read("tiered"),
        seed,
        workload.QUICK,
    )


def run_of(task: Task, slowdown: float, used_mib: int = 400) -> dict[str, Any]:
    """Return a made-up result of a task, with this slowdown in percent."""
    pages = {"fast": {"anon": used_mib * 200, "free": 7}, "slow": {"file": used_mib * 56}}
    machine = {
        "name": "tiered",
        "variant": task.profile.variant,
        "fast_bytes": task.profile.fast.capacity,
        "slow_bytes": task.profile.slow.capacity,
    }
    throughput = 1000 * (1 - slowdown / 100)
    name = task.policy.name
    return made_up.run(name, throughput, "gups", seed=task.seed, machine=machine, pages=pages)


def measured(one: Sizing, curve: Curve, used_mib: int = 400) -> list[list[dict[str, Any]]]:
    """Measure what the search asks for; return the runs of each round."""
    rounds: list[list[dict[str, Any]]] = []
    while todo := one.todo([run for runs in rounds for run in runs]):
        rounds.append(
            [
                run_of(
                    task,
                    0
                    if task.policy.name == "all-fast"
                    else curve(task.profile.fast.capacity // MIB, task.seed),
                    used_mib,
                )
                for task in todo
            ]
        )
    return rounds


def flat(rounds: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [run for runs in rounds for run in runs]


@pytest.mark.parametrize(
    ("wanted", "first", "second", "last", "count"),
    [
        # A step is a sixteenth of the range, and a multiple of 2 MiB.
        (416, 96, 116, 416, 17),
        (9999, 96, 202, 1792, 17),
        (100, 96, 98, 100, 3),
        (300, 96, 110, 300, 16),
    ],
)
def test_sizes_are_a_sixteenth_of_the_range_apart(
    wanted: int, first: int, second: int, last: int, count: int
) -> None:
    sizes = [size // MIB for size in sizing.grid(96 * MIB, 1792 * MIB, wanted * MIB, 2 * MIB)]
    assert (sizes[0], sizes[1], sizes[-1], len(sizes)) == (first, second, last, count)
    assert all(size % 2 == 0 for size in sizes)


def test_a_workload_that_needs_less_than_the_smallest_has_one_size() -> None:
    assert sizing.grid(96, 1792, 10, 2) == [96]


@pytest.mark.parametrize(
    ("met", "expected"),
    [
        ({}, [16, 0]),
        ({16: True}, [0]),
        ({16: False, 0: False}, []),
        ({16: True, 0: False}, [8]),
        ({16: True, 0: False, 8: True}, [4]),
        ({16: True, 0: False, 8: True, 7: False}, []),
        ({16: True, 0: True}, []),
        # Luck: 4 met the bound, and the larger 8 did not.
        ({16: True, 0: False, 4: True, 8: False}, [12]),
        # The smallest met it, and a larger one that another bound needed did not.
        ({16: True, 0: True, 8: False}, [12]),
    ],
)
def test_a_probe_halves_what_is_not_known(met: dict[int, bool], expected: list[int]) -> None:
    assert sizing.probes(met, 16) == expected


def test_the_smallest_size_within_each_bound_is_found_and_checked_with_another_seed() -> None:
    one = search("tpp", "kloc")
    rounds = measured(one, lambda mib, seed: max(0, (436 - mib) / 20) + seed - 1)
    runs = flat(rounds)
    # 400 MiB are in use: 96 to 600 MiB, in steps of 32.
    assert [size // MIB for size in one.sizes(runs)] == [*range(96, 600, 32), 600]
    answers = one.answers(runs)
    assert [(answer.policy, answer.bound) for answer in answers] == [
        ("tpp", 3), ("tpp", 10), ("kloc", 3), ("kloc", 10)
    ]  # fmt: skip
    for answer, mib in zip(answers, [384, 256, 384, 256], strict=True):
        assert answer.state == FOUND and answer.fast_bytes == mib * MIB
        assert answer.slowdown == pytest.approx((436 - mib) / 20)
        assert answer.throughput == pytest.approx(1000 - 10 * (436 - mib) / 20)
        assert answer.checked == pytest.approx((436 - mib) / 20 + 1)
        assert not answer.lucky and not answer.smallest


def test_no_size_is_measured_twice_and_both_seeds_have_their_own_all_fast() -> None:
    one = search("tpp", bounds=(3, 6, 10))
    rounds = measured(one, lambda mib, _: max(0, (436 - mib) / 20))
    runs = flat(rounds)
    what = [(run["policy"], run["machine"]["fast_bytes"], run["seed"]) for run in runs]
    assert len(set(what)) == len(what) <= one.runs_at_most()
    assert [(run["policy"], run["seed"]) for run in rounds[0]] == [("all-fast", 1), ("all-fast", 2)]
    assert all(policy == "tpp" for policy, _, seed in what[2:])
    assert {run["seed"] for run in rounds[-1]} == {2}


def test_a_bound_that_the_largest_size_misses_has_no_size() -> None:
    runs = flat(measured(search(bounds=(3,)), lambda *_: 4.0))
    (answer,) = search(bounds=(3,)).answers(runs)
    assert answer.state == NO_SIZE and answer.checked is None
    assert (answer.fast_bytes, answer.slowdown) == (600 * MIB, pytest.approx(4))


def test_a_bound_that_the_smallest_size_meets_is_told_apart() -> None:
    runs = flat(measured(search(bounds=(3,)), lambda *_: -1.0))
    (answer,) = search(bounds=(3,)).answers(runs)
    assert answer.state == FOUND and answer.smallest and answer.fast_bytes == 96 * MIB
    assert answer.checked == pytest.approx(-1)


def test_a_lucky_size_below_one_that_misses_the_bound_is_no_answer() -> None:
    one = search(bounds=(3, 10))
    # 10 % is met from 192 MiB on, 3 % at 192 by luck, and from 480 on.
    slowdowns = dict.fromkeys(range(96, 601), 5.0) | {96: 20.0, 128: 20.0, 160: 20.0, 192: 2.0}
    slowdowns |= dict.fromkeys(range(480, 601), 1.0)
    runs = flat(measured(one, lambda mib, _: slowdowns[mib]))
    strict, loose = one.answers(runs)
    assert (strict.fast_bytes, strict.lucky) == (480 * MIB, (192 * MIB,))
    assert (loose.fast_bytes, loose.lucky) == (192 * MIB, ())


def test_what_is_not_measured_yet_is_unfinished() -> None:
    one = search()
    rounds = measured(one, lambda mib, _: (600 - mib) / 30)
    assert {answer.state for answer in one.answers([])} == {UNFINISHED}
    assert {answer.state for answer in one.answers(flat(rounds[:2]))} == {UNFINISHED}


def test_runs_of_others_do_not_count() -> None:
    one = search()
    (task, _) = one.references()
    others = [
        {**run_of(task, 0), "workload": "redis"},
        {**run_of(task, 0), "machine": {"variant": "slow bandwidth 1/4", "fast_bytes": 192 * MIB}},
    ]
    assert [todo.seed for todo in one.todo(others)] == [1, 2]
    assert one.sizes(others) == []


@pytest.mark.parametrize("name", ["all-slow", "oracle", "prcl"])
def test_policies_that_no_capacity_matters_to_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"policy {name} does not depend on"):
        search(name).check()


def test_the_last_seed_is_checked_with_the_first() -> None:
    assert search(seed=(1 << 32) - 1).check_seed == 0
