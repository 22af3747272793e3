# SPDX-License-Identifier: GPL-2.0
"""The speed of the host: phases from samples of a machine, and CPU time of its thread."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.machine import launcher
from kloc.measure import host_speed, speed
from kloc.measure.speed import MODELLED, UNMODELLED, Sample, Watch


def watched(*samples: tuple[str, int, float]) -> Watch:
    """Return a watch that has seen these samples."""
    watch = Watch()
    for sample in samples:
        watch.add(Sample(*sample))
    return watch


def test_a_phase_is_the_sum_of_its_stages() -> None:
    phases = watched(
        ("boot", 100, 1.0),
        ("boot", 400, 2.0),
        ("setup", 1000, 4.0),
        ("warm-up", 1300, 5.0),
        ("warm-up", 1350, 6.0),
        ("start", 1400, 7.0),
        ("measured", 1500, 8.0),
        ("check", 9999, 9.0),
        ("check", 99999, 10.0),
    ).phases
    assert (phases[UNMODELLED].instructions, phases[UNMODELLED].cpu_seconds) == (900, 3.0)
    assert phases[UNMODELLED].rate == 300
    assert (phases[MODELLED].instructions, phases[MODELLED].cpu_seconds) == (200, 3.0)


def test_what_is_executed_while_the_phase_changes_counts_for_none() -> None:
    phases = watched(("setup", 100, 1.0), ("warm-up", 300, 2.0)).phases
    assert phases[UNMODELLED].rate == phases[MODELLED].rate == 0


def test_cpu_time_is_that_of_the_busiest_thread(tmp_path: Path) -> None:
    for thread, (user, system) in enumerate(((5, 5), (400, 100), (20, 0))):
        directory = tmp_path / "7" / "task" / str(thread)
        directory.mkdir(parents=True)
        fields = ["0"] * 11 + [str(user), str(system), "0"]
        (directory / "stat").write_text(f"{thread} (CPU 0/TCG (x)) {' '.join(fields)}\n")
    assert speed.cpu_seconds(7, tmp_path) == 500 / os.sysconf("SC_CLK_TCK")
    assert speed.cpu_seconds(8, tmp_path) is None


def test_the_cpu_has_a_name(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nmodel name\t: A CPU @ 2 GHz\n")
    assert speed.cpu_name(cpuinfo) == "A CPU @ 2 GHz"
    cpuinfo.write_text("processor\t: 0\n")
    assert speed.cpu_name(cpuinfo) == "unknown"


def test_the_speed_is_kept_for_estimates(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [("boot", 0), ("setup", 100), ("warm-up", 200), ("measured", 300)]

    def run(_job: Any, _parts: Any, on_poll: Any) -> None:
        for stage, instructions in samples:
            on_poll(SimpleNamespace(stage=stage, instructions=instructions, pid=os.getpid()))

    seconds = iter(range(1, 9))
    monkeypatch.setattr(speed, "cpu_seconds", lambda _: float(next(seconds)))
    monkeypatch.setattr(launcher, "run", run)
    monkeypatch.setattr(speed, "prepare", lambda _: {speed.WORKLOAD: None})
    speed.measure()
    assert host_speed.seconds(1e9, 1) is not None


def test_a_run_without_both_phases_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_job: Any, _parts: Any, on_poll: Any) -> None:
        on_poll(SimpleNamespace(stage="boot", instructions=1, pid=os.getpid()))

    monkeypatch.setattr(launcher, "run", run)
    monkeypatch.setattr(speed, "prepare", lambda _: {speed.WORKLOAD: None})
    with pytest.raises(KlocError, match="unmodelled, modelled"):
        speed.measure()
