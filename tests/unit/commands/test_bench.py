# SPDX-License-Identifier: GPL-2.0
"""`kloc bench cost`: its arguments, and the document that it writes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.build import root
from kloc.measure.cost import kernels, runner
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


def test_bench_measures_only_cost(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("bench", "costs")
    assert "'costs'" in capsys.readouterr().err
