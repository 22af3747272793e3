# SPDX-License-Identifier: GPL-2.0
"""The inputs of sets of runs: one fingerprint, and differences in few lines."""

from __future__ import annotations

from typing import Any

from kloc.results import inputs
from support import made_up

SAME = {"kernel": "71c8aa0311223344", "job_disk": "a" * 16}


def run(policy: str = "tpp", workload: str = "redis", seed: int = 1, **changed: str) -> Any:
    return made_up.run(policy, 1.0, workload, seed=seed, inputs={**SAME, **changed})


def test_the_fingerprint_does_not_depend_on_the_order_of_runs_and_inputs() -> None:
    one, other = run(), run("stock")
    reordered = {**one, "inputs": dict(reversed(one["inputs"].items()))}
    assert inputs.fingerprint([one, other]) == inputs.fingerprint([other, reordered])


def test_the_fingerprint_follows_from_all_inputs_and_from_nothing_else() -> None:
    first = inputs.fingerprint([run()])
    assert first is not None and len(first) == 16
    assert inputs.fingerprint([{**run(), "throughput": 7.0}]) == first
    assert inputs.fingerprint([run(kernel="b" * 16)]) != first
    assert inputs.fingerprint([run(seed=2)]) != first
    assert inputs.fingerprint([run(), run(seed=2)]) != first
    assert inputs.lines([run()]) == [f"inputs {first}"]


def test_runs_of_an_older_kloc_have_no_fingerprint() -> None:
    assert inputs.fingerprint([run(), made_up.run("stock", 1.0)]) is None
    assert inputs.lines([made_up.run("stock", 1.0)]) == []
    assert inputs.lines([]) == []
    assert inputs.differences([run()], [made_up.run("tpp", 1.0)]) == []


def test_equal_inputs_do_not_differ() -> None:
    assert inputs.differences([run(), run("stock")], [run("stock"), run()]) == []


def test_what_differs_in_all_runs_of_a_workload_is_one_line() -> None:
    one = [run(name, seed=seed) for name in ("tpp", "stock") for seed in (1, 2)]
    other = [{**each, "inputs": {**each["inputs"], "kernel": "9ab0c1d2e3f40000"}} for each in one]
    assert inputs.differences(one, other) == [
        "inputs of redis/*: kernel 71c8aa03… vs. 9ab0c1d2…",
    ]


def test_hashes_that_are_others_in_each_run_are_only_named() -> None:
    one = [run(seed=1), run(seed=2)]
    other = [run(seed=1, job_disk="b" * 16), run(seed=2, job_disk="c" * 16)]
    assert inputs.differences(one, other) == ["inputs of redis/*: job_disk"]


def test_policies_and_seeds_are_named_if_only_some_runs_differ() -> None:
    one = [run(name, seed=seed) for name in ("tpp", "stock") for seed in (1, 2)]
    other = [run("tpp", seed=seed, job_disk="b" * 16) for seed in (1, 2)]
    other += [run("stock"), run("stock", seed=2, kernel="b" * 16)]
    assert inputs.differences(one, other) == [
        "inputs of redis/tpp: job_disk aaaaaaaa… vs. bbbbbbbb…",
        "inputs of redis/stock, seed 2: kernel 71c8aa03… vs. bbbbbbbb…",
    ]


def test_an_input_that_one_side_lacks_differs() -> None:
    one, other = run(), run(initramfs="b" * 16)
    assert inputs.differences([one], [other]) == ["inputs of redis/*: initramfs none vs. bbbbbbbb…"]


def test_different_runs_of_a_workload_differ_only_in_what_they_should_share() -> None:
    assert inputs.differences([run("tpp")], [run("stock", job_disk="b" * 16)]) == []
    assert inputs.differences([run("tpp")], [run("stock", kernel="b" * 16)]) == [
        "inputs of redis/*: kernel 71c8aa03… vs. bbbbbbbb…"
    ]
    assert inputs.differences([run(workload="redis")], [run(workload="rocksdb", kernel="b")]) == []


def test_inputs_that_all_runs_should_have_in_common_are_named_if_they_differ() -> None:
    firmware = {"firmware_pvh": "1" * 16}
    runs = [run(**firmware), run("stock", job_disk="b" * 16), run(workload="mail", data_disk="c")]
    assert inputs.mixed(runs) == []
    others = [run(seed=2, kernel="9ab0c1d2e3f40000"), run(seed=3, firmware_pvh="2" * 16)]
    assert inputs.mixed([*runs, *others]) == ["kernel", "firmware_pvh"]
    assert inputs.mixed([made_up.run("tpp", 1.0)]) == []
