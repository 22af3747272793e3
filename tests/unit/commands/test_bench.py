# SPDX-License-Identifier: GPL-2.0
"""`kloc bench`: its arguments, and the documents that it writes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError, UsageError
from kloc.build import root
from kloc.machine import profile
from kloc.measure import speed
from kloc.measure.cost import kernels, runner
from kloc.measure.machine_bench import answers
from kloc.measure.machine_bench import runner as machine_bench
from support import made_up_answers
from support.command import run
from support.made_up_costs import measured


def test_a_dry_run_lists_the_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bench", "cost", "--kernels", "base", "--dry-run") == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "unpatched",
        "base",
    ]


@pytest.fixture
def made_up_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the measurement by made-up figures."""

    def measure(columns: list[kernels.Column]) -> list[runner.Measured]:
        return [measured(column.name) for column in columns]

    monkeypatch.setattr(runner, "measure", measure)
    versions = argparse.Namespace(versions=lambda: {"qemu": "1"})
    monkeypatch.setattr(root, "tool_root", lambda: versions)


@pytest.mark.usefixtures("made_up_measurements")
def test_all_kernels_and_calls_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("bench", "cost", "--json", str(tmp_path / "cost.json")) == 0
    document: dict[str, Any] = json.loads((tmp_path / "cost.json").read_text())
    names = [kernel["name"] for kernel in document["kernels"]]
    assert names == [column.name for column in kernels.COLUMNS]
    files = document["kernels"][0]["groups"][0]
    assert files["calls"]["open"] == {"instructions": 500, "lines": 20}
    assert document["versions"] == {"qemu": "1"}
    assert "unpatched" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_refused_before_the_measurement(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="does not exist"):
        run("bench", "cost", "--json", str(tmp_path / "no" / "cost.json"))


def test_bench_measures_only_what_it_knows(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("bench", "costs")
    assert "'costs'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cost", "tlb"], "takes no group"),
        (["cost", "--machines", "cxl"], "--machines"),
        (["machine", "--kernels", "base"], "--kernels"),
        (["speed", "tlb"], "takes no group"),
        (["speed", "--kernels", "base"], "--kernels"),
        (["speed", "--machines", "cxl"], "--machines"),
        (["machine", "tbl"], "did you mean 'tlb'"),
        (["machine", "--machines", "cxll"], "did you mean 'cxl'"),
    ],
)
def test_arguments_of_the_other_measurement_and_unknown_names_are_refused(
    arguments: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run("bench", *arguments)


def test_a_dry_run_prints_the_programs_of_each_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bench", "machine", "cores", "--machines", "cxl,tiered", "--dry-run") == 0
    assert capsys.readouterr().out.splitlines() == [
        "cxl, cores: known_cores 4",
        "tiered, cores: known_cores 4",
    ]


def test_all_machines_and_answers_are_written_and_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(
        profiles: list[profile.Profile], groups: list[answers.Group]
    ) -> list[machine_bench.Measured]:
        return [made_up_answers.measured(one, groups) for one in profiles]

    monkeypatch.setattr(machine_bench, "measure", measure)
    monkeypatch.setattr(profile, "check_host", lambda _: None)
    assert run("bench", "machine", "--json", str(tmp_path / "machine.json")) == 0
    document: dict[str, Any] = json.loads((tmp_path / "machine.json").read_text())
    names = [each["machine"]["name"] for each in document["machines"]]
    assert names == profile.names()
    assert "fast.idle" in document["machines"][0]["answers"]
    printed = capsys.readouterr().out
    assert all(f"{name}: known answers" in printed for name in names)


def test_a_dry_run_prints_what_is_run_for_the_speed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bench", "speed", "--dry-run") == 0
    assert capsys.readouterr().out == "redis under kloc, seed 1, machine tiered, --quick\n"


def test_the_speed_is_written_and_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phases = {speed.UNMODELLED: speed.Phase(190, 1.0), speed.MODELLED: speed.Phase(70, 1.0)}
    made_up = speed.Speed("A CPU", made_up_answers.PARTS, phases)
    monkeypatch.setattr(speed, "measure", lambda: made_up)
    assert run("bench", "speed", "--json", str(tmp_path / "speed.json")) == 0
    document: dict[str, Any] = json.loads((tmp_path / "speed.json").read_text())
    assert document["phases"]["modelled"]["instructions"] == 70
    assert "A CPU" in capsys.readouterr().out
