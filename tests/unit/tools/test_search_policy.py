# SPDX-License-Identifier: GPL-2.0
"""The search for settings: its seeds, its file, and a search that was stopped."""

from __future__ import annotations

import argparse
import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kloc.base.paths import PROJECT
from kloc.measure import policy
from kloc.measure.runner import Interrupted
from support import fake_machines

MANY_PAGES = 1_000_000


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> ModuleType:
    """The tool, with machines that end at once."""
    spec = spec_from_file_location("search_policy", PROJECT / "tools" / "search_policy.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    fake_machines.install(monkeypatch.setattr)
    fake_machines.faults["promoted"] = MANY_PAGES
    return module


def found(path: Path) -> Any:
    return json.loads(path.read_text())["redis"]


def test_every_value_is_tried_once_and_the_fastest_is_kept(
    tool: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "tpp.json"
    tool.search("tpp", ["redis"], (101, 102), path)
    entry = found(path)
    space = policy.load("tpp").to_try
    # The best settings so far are also a trial of the next setting.
    trials = sum(len(values) for values in space.values()) - (len(space) - 1)
    assert len(entry["trials"]) == len(fake_machines.ran) == 2 * trials
    assert entry["finished"] and entry["seeds"] == [101, 102]
    assert entry["best"].keys() == space.keys()
    assert {trial["seed"] for trial in entry["trials"]} == {101, 102}


def test_settings_of_scans_are_not_tried_if_nothing_is_promoted(
    tool: ModuleType, tmp_path: Path
) -> None:
    fake_machines.faults["promoted"] = 0
    tool.search("tpp", ["redis"], (101,), tmp_path / "tpp.json")
    assert list(found(tmp_path / "tpp.json")["best"]) == ["/proc/sys/vm/watermark_scale_factor"]


@pytest.mark.parametrize("finished", [1, 5, 8])
def test_a_stopped_search_goes_on_and_ends_the_same(
    finished: int, tool: ModuleType, tmp_path: Path
) -> None:
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    tool.search("tpp", ["redis"], (101,), whole)
    total = len(fake_machines.ran)
    fake_machines.ran.clear()
    fake_machines.faults["stop"] = finished
    with pytest.raises(Interrupted):
        tool.search("tpp", ["redis"], (101,), part)
    assert len(found(part)["trials"]) == finished and not found(part)["finished"]
    fake_machines.ran.clear()
    del fake_machines.faults["stop"]
    tool.search("tpp", ["redis"], (101,), part)
    assert len(fake_machines.ran) == total - finished
    assert part.read_bytes() == whole.read_bytes()
    fake_machines.ran.clear()
    tool.search("tpp", ["redis"], (101,), part)
    assert fake_machines.ran == []


def test_trials_with_other_inputs_are_measured_again(tool: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "tpp.json"
    tool.search("tpp", ["redis"], (101,), path)
    before, total = found(path), len(fake_machines.ran)
    fake_machines.ran.clear()
    fake_machines.faults["kernel"] = "9ab0c1d2e3f40000"
    tool.search("tpp", ["redis"], (101,), path)
    assert len(fake_machines.ran) >= total - 2
    assert not {trial["inputs"] for trial in before["trials"]} & {
        trial["inputs"] for trial in found(path)["trials"]
    }


def test_old_entries_are_replaced_and_those_of_other_workloads_kept(
    tool: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "tpp.json"
    old = {"best": {}, "trials": [{"settings": {}, "throughput": 1.0}]}
    path.write_text(json.dumps({"redis": old, "mail": old}))
    tool.search("tpp", ["redis"], (101,), path)
    assert json.loads(path.read_text())["mail"] == old
    assert all("seed" in trial for trial in found(path)["trials"])


@pytest.mark.parametrize(
    ("text", "chosen"), [("101", (101,)), ("101-103", (101, 102, 103)), ("200,101", (200, 101))]
)
def test_seeds_from_101_up_are_searched_on(
    text: str, chosen: tuple[int, ...], tool: ModuleType
) -> None:
    assert tool.seeds(text) == chosen


@pytest.mark.parametrize("text", ["1", "100", "1-3", "101,3"])
def test_seeds_of_tables_are_refused_with_the_reason(text: str, tool: ModuleType) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"tables show.*from 101 up"):
        tool.seeds(text)
