# SPDX-License-Identifier: GPL-2.0
"""A dry run says how long the runs will take on this host, and what is built first."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base import cache, terminal
from kloc.commands import duration
from kloc.measure import host_speed, runner, workload
from support.command import run


@pytest.fixture(autouse=True)
def one_machine(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> None:
    monkeypatch.setattr(runner, "at_once", lambda _: 1)
    monkeypatch.setattr(duration, "at_once", lambda _: 1)
    monkeypatch.setenv("COLUMNS", "200")
    terminal.stderr.cache_clear()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "1 minute"),
        (75, "1 minute"),
        (1500, "25 minutes"),
        (7199, "120 minutes"),
        (9000, "2.5 hours"),
    ],
)
def test_durations_are_in_minutes_or_hours(seconds: float, text: str) -> None:
    assert duration.text(seconds) == text


@pytest.mark.parametrize(
    ("argv", "runs"),
    [
        (("run", "redis", "--policy", "tpp"), 1),
        (("run", "redis", "--policy", "oracle"), 2),
        (("compare", "redis", "--policies", "tpp,kloc"), 2),
        # The oracle needs a run of all-slow, and one of its own.
        (("compare", "redis", "--policies", "oracle", "--seeds", "2"), 4),
    ],
)
def test_the_time_follows_from_the_last_measurement(
    argv: tuple[str, ...], runs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    host_speed.note(workload.load("redis").instructions, 600, 1)
    assert run(*argv, "--dry-run") == 0
    assert f"about {10 * runs} minutes, if this host" in capsys.readouterr().err


def test_a_host_that_has_not_measured_yet_has_an_estimate_of_a_typical_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    minutes = workload.load("redis").instructions / host_speed.TYPICAL / 60
    assert run("compare", "redis", "--policies", "tpp,kloc", "--dry-run") == 0
    printed = capsys.readouterr().err
    assert f"about {2 * minutes:.0f} minutes, on a typical host: this one has not" in printed


def test_what_is_built_first_is_said_and_not_built(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = "before that, kloc builds what it lacks"
    assert run("compare", "redis", "--policies", "tpp", "--dry-run") == 0
    assert first in capsys.readouterr().err
    assert not list(empty_cache.iterdir())

    asked: list[str | None] = []

    def prepare(_: object, kernel: str | None, policies: object = ()) -> None:
        asked.append(kernel)
        cache.build("kind", "0123", lambda _: None)

    monkeypatch.setattr(duration, "prepare", prepare)
    for options in ((), ("--kernel", "linux-image-cloud-amd64")):
        assert run("compare", "redis", "--policies", "tpp", *options, "--dry-run") == 0
        assert first in capsys.readouterr().err
    assert asked == [None, "linux-image-cloud-amd64"]
    (empty_cache / "kind" / "0123").mkdir(parents=True)
    assert run("compare", "redis", "--policies", "tpp", "--dry-run") == 0
    assert first not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["what-if", "objects"])
def test_other_commands_that_measure_say_it_too(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    host_speed.note(20e9, 60, 1)
    assert run(name, "redis", "--dry-run") == 0
    assert " if this host is as fast" in capsys.readouterr().err
