# SPDX-License-Identifier: GPL-2.0
"""`kloc heatmap WORKLOAD`, without a machine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import heatmap_machine as command
from kloc.heat.records import Record
from kloc.measure import heat_map
from kloc.measure.task import Task
from kloc.measure.workload import FULL, QUICK
from support import made_up_heat
from support.command import run


@pytest.fixture
def asked(monkeypatch: Any) -> list[Any]:
    """The tasks that would have been run, and the arguments of the records that were read."""
    terminal.stdout.cache_clear()
    terminal.stderr.cache_clear()
    found: list[Any] = []
    kernel = SimpleNamespace(kernel=SimpleNamespace(release="6.12.118"))
    monkeypatch.setattr(command, "prepare", lambda workloads, **_: {workloads[0].name: kernel})
    monkeypatch.setattr(command, "measure", lambda tasks, *_: found.extend(tasks))

    def read(*arguments: Any, physical: bool) -> Record:
        found.append((*arguments, physical))
        return made_up_heat.physical()

    monkeypatch.setattr(command.heat_map, "record", read)
    return found


def test_the_options_are_those_of_the_run(
    asked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--policy", "tpp", "--machine", "cxl", "--seed", "7", "--quick", "--physical")
    assert run("heatmap", "redis", *options, "--aggregation", "10ms") == 0
    task, (_, title, release, host, attributes, physical) = asked
    assert isinstance(task, Task)
    assert (task.workload.name, task.policy.name, task.seed, task.size) == (
        "redis",
        "tpp",
        7,
        QUICK,
    )
    assert task.profile == host and host.name == "cxl"
    assert title == "redis under tpp, seed 7" and release == "6.12.118" and physical
    # Those that are not given are the machine's.
    assert attributes.aggregation_us == 10_000
    assert attributes.sampling_us == heat_map.ATTRIBUTES.sampling_us
    assert "node 1, slow" in capsys.readouterr().out


def test_defaults_are_those_of_kloc_run(asked: list[Any]) -> None:
    assert run("heatmap", "redis") == 0
    task, (*_, attributes, physical) = asked
    assert (task.policy.name, task.seed, task.size) == ("kloc", 1, FULL)
    assert task.profile.name == "tiered" and not physical
    assert attributes == heat_map.ATTRIBUTES


def test_what_cannot_be_recorded_is_named(asked: list[Any]) -> None:
    with pytest.raises(KlocError, match="follows from the run of another"):
        run("heatmap", "redis", "--policy", "oracle")
    with pytest.raises(KlocError, match="unknown workload 'rediss'"):
        run("heatmap", "rediss")
    assert not asked


def test_a_dry_run_prints_the_run_and_records_nothing(
    asked: list[Any], empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("heatmap", "redis", "--policy", "tpp", "--physical", "--dry-run") == 0
    assert capsys.readouterr().out == "redis under tpp, seed 1, machine tiered: all memory\n"
    with pytest.raises(KlocError, match="oracle cannot be recorded"):
        run("heatmap", "redis", "--policy", "oracle", "--dry-run")
    assert asked == []
