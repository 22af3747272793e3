# SPDX-License-Identifier: GPL-2.0
"""`kloc compare --heatmaps` adds heat maps to a report, and to nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.heat import records
from support import made_up, made_up_heat
from support.command import run


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A directory with a result file and a heat map."""
    terminal.stdout.cache_clear()
    content = made_up.document(made_up.run("tpp", 100))
    (tmp_path / "result.json").write_text(json.dumps(content))
    record = records.document(made_up_heat.record())
    (tmp_path / "heat.json").write_text(json.dumps(record))
    return tmp_path


def test_the_report_has_the_maps_and_the_results_do_not(results: Path) -> None:
    again, page = results / "again.json", results / "report.html"
    arguments = ("compare", str(results / "result.json"), "--json", str(again))
    heatmaps = ("--report", str(page), "--heatmaps", str(results / "heat.json"))
    assert run(*arguments, *heatmaps) == 0
    assert "process 12 (made-up)" in page.read_text()
    assert "heatmaps" not in again.read_text()
    assert run("compare", str(again), "--report", str(page)) == 0
    assert "process 12 (made-up)" not in page.read_text()


def test_mistakes_are_found_before_anything_runs(results: Path) -> None:
    with pytest.raises(UsageError, match="in a report"):
        run("compare", "redis", "--heatmaps", str(results / "heat.json"))
    wrong = str(results / "result.json")
    page = str(results / "report.html")
    with pytest.raises(KlocError, match="has no heat map"):
        run("compare", "redis", "--report", page, "--heatmaps", wrong)
