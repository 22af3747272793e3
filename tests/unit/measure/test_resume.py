# SPDX-License-Identifier: GPL-2.0
"""Which runs a stopped comparison lacks, and what its results were made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kloc.machine import launcher, profile
from kloc.measure import policy, prepared, record, resume, task, workload
from kloc.measure.workload import Outcome, Workload
from support import made_up

GUESSED = Workload(
    name="guessed",
    summary="a workload whose warm-up is a guess",
    packages=(),
    setup=lambda *_: "true\n",
    measured=lambda *_: "true\n",
    check=None,
    outcome=lambda *_: Outcome(1, None),
)


def comparison(*names: str) -> tuple[list[task.Task], list[policy.Policy]]:
    """Return the tasks of these policies, with the policies."""
    policies = [policy.load(name) for name in names]
    host = profile.load("tiered")
    return task.tasks([GUESSED], policies, host, [1], workload.FULL), policies


def missing(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the policies to run if there are results of `known`."""
    todo, policies = comparison(*names)
    identities = {("guessed", name, "1", "") for name in known}
    return [one.policy.name for one in resume.missing(todo, policies, identities)]


@pytest.mark.parametrize(
    ("names", "known", "expected"),
    [
        (["tpp", "stock"], [], ["tpp", "stock"]),
        (["tpp", "stock"], ["tpp"], ["stock"]),
        (["tpp", "stock"], ["tpp", "stock"], []),
        (["all-slow", "oracle"], ["all-slow"], ["all-slow"]),
        (["all-slow", "oracle"], ["oracle"], ["all-slow"]),
        (["all-slow", "oracle"], ["all-slow", "oracle"], []),
        (["oracle"], [], ["all-slow"]),
        (["oracle"], ["oracle"], []),
    ],
)
def test_only_what_has_no_result_is_missing(
    names: list[str], known: list[str], expected: list[str]
) -> None:
    assert missing(names, known) == expected


def test_a_result_without_a_warm_up_that_failed_is_compared_with_such_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launcher, "inputs_of", lambda job, _: {"scripts": " ".join(job.scripts)})
    monkeypatch.setattr(prepared, "with_disks", lambda tasks, _: tasks)
    todo, policies = comparison("tpp", "stock")
    inputs: Any = {"inputs": {"scripts": ""}}
    kept = [
        made_up.run("tpp", 1.0, "guessed", **inputs),
        made_up.run("stock", 1.0, "guessed", warm_up=None, **inputs),
    ]
    parts: Any = {"guessed": None}
    runs = resume.with_inputs_of_today(kept, todo, policies, parts)
    assert ["warm" in run["inputs"]["scripts"].split() for run in runs] == [True, False]


def test_a_repeated_run_differs_in_nothing_but_notes() -> None:
    (only,), _ = comparison("tpp")
    stored = made_up.run("tpp", 1.0, "guessed")
    resume.check_repeated(only, stored, {**stored, "notes": ["policies left out: kloc"]})
    resume.check_repeated(only, stored, {**stored, "kloc": "another commit"})
    # As in JSON: a tuple is a list.
    resume.check_repeated(only, {**stored, "later": [1, 2]}, {**stored, "later": (1, 2)})
    with pytest.raises(resume.NotRepeated, match=r"guessed under tpp, seed 1 .* in throughput: "):
        resume.check_repeated(only, stored, {**stored, "throughput": 2.0})


def test_a_task_has_the_identity_of_its_result() -> None:
    (only,), _ = comparison("tpp")
    varied = replace(only, profile=only.profile.varied(2, None), seed=3)
    machine = {"variant": varied.profile.variant}
    run = {"workload": "guessed", "policy": "tpp", "seed": 3, "machine": machine}
    assert varied.identity() == record.identity(run)
