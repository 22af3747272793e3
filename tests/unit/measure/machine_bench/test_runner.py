# SPDX-License-Identifier: GPL-2.0
"""The job of the known answers, and their comparison with the profile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.machine import launcher
from kloc.measure.machine_bench import answers, runner
from support.made_up_answers import exact, machine, measured

HOST = machine("cxl")


def find(compared: runner.Measured, name: str) -> runner.Compared:
    """Return an answer by name."""
    (found,) = (one for one in compared.compared if one.answer.name == name)
    return found


def test_the_job_runs_the_programs_of_the_chosen_groups() -> None:
    job = runner.job(HOST, answers.choose(("tlb", "disk")))
    lines = job.scripts["measured"].splitlines()
    assert [line.split()[0] for line in lines] == ["known_tlb", "known_disk"]
    assert job.profile is HOST and "warm" not in job.scripts
    assert job.instructions < runner.job(HOST, answers.GROUPS).instructions


def test_an_answer_is_off_if_it_deviates_by_more_than_its_tolerance() -> None:
    compared = measured(HOST, answers.GROUPS, fast_idle=1.02, slow_idle=0.96, slow_traffic_50=0.9)
    assert find(compared, "fast.idle").deviation == pytest.approx(0.02)
    off = [one.answer.name for one in compared.compared if one.is_off]
    assert off == ["slow.idle"]


def test_an_answer_without_expectation_has_no_deviation() -> None:
    pipe = find(measured(HOST, answers.GROUPS), "cores.pipe")
    assert pipe.expected is None and pipe.deviation is None and not pipe.is_off


def test_published_figures_may_be_relative_to_another_answer() -> None:
    figures = [value for _, value in find(measured(HOST, answers.GROUPS), "slow.idle").published]
    assert pytest.approx(2.18 * 80) in figures
    assert 107 in figures


def test_a_relative_figure_is_left_out_without_the_other_answer() -> None:
    slow = answers.Group(
        "slow",
        "",
        lambda _: [],
        tuple(a for a in answers.GROUPS[0].answers if a.name == "slow.idle"),
    )
    compared = measured(HOST, [slow])
    assert all(one.times is None for one, _ in find(compared, "slow.idle").published)


def test_a_program_that_prints_too_little_fails_with_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(*_: Any) -> Any:
        return SimpleNamespace(frames={"measured": "known fast.idle 80 ns\n"})

    monkeypatch.setattr(launcher, "run", run)
    monkeypatch.setattr(runner, "prepare_parts", lambda *_: None)
    with pytest.raises(KlocError, match=r"^cxl: .* slow\.idle"):
        runner.measure([HOST], answers.choose(("latency",)))


def test_all_answers_are_compared_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = answers.choose(("cores", "disk"))
    values = exact(groups, HOST)
    units = {a.name: a.unit for group in groups for a in group.answers}
    printed = "".join(f"known {name} {value} {units[name]}\n" for name, value in values.items())
    raw = SimpleNamespace(frames={"measured": printed})
    monkeypatch.setattr(launcher, "run", lambda *_: raw)
    monkeypatch.setattr(runner, "prepare_parts", lambda *_: None)
    (one,) = runner.measure([HOST], groups)
    assert [each.answer.name for each in one.compared] == list(values)
    assert not any(each.is_off for each in one.compared)
