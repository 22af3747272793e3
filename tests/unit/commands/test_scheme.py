# SPDX-License-Identifier: GPL-2.0
"""`kloc scheme` on made-up DAMON files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import scheme as command
from kloc.schemes import damon
from support import fake_damon, made_up_nodes
from support.command import parse, run

IDLE = "min max min min 1s max pageout quota bytes=4M"


@pytest.fixture
def fake(monkeypatch: Any, tmp_path: Path) -> fake_damon.FakeDamon:
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()
    monkeypatch.setattr(command.time, "sleep", lambda _: None)
    return fake_damon.install(monkeypatch, tmp_path)


def test_a_correct_file_is_checked_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.scheme"
    path.write_text(f"{IDLE}\n")
    terminal.stdout.cache_clear()
    assert run("scheme", "check", str(path)) == 0
    assert capsys.readouterr().out == f"{path}: 1 correct\n"
    assert run("scheme", "show", "ethp", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [one["action"] for one in shown] == ["hugepage", "nohugepage"]
    assert run("scheme", "show", "prcl") == 0
    assert "5s{1s..1m} to max" in capsys.readouterr().out


def test_a_file_with_a_mistake_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.scheme"
    path.write_text("min max min min 1 max pageout\n")
    with pytest.raises(KlocError, match=f"^{path}:1: '1'"):
        run("scheme", "check", str(path))
    path.write_text("min max 1% 4% min max stat\n")
    with pytest.raises(KlocError, match="frequency in samples"):
        run("scheme", "check", str(path))
    assert run("scheme", "check", str(path), "--sampling", "1ms") == 0


def test_limits_that_the_intervals_defeat_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.scheme"
    path.write_text(f"{IDLE} reset=100ms\n")
    with pytest.raises(KlocError, match="reset=100ms is shorter than an aggregation interval"):
        run("scheme", "check", str(path), "--aggregation", "2s")
    path.write_text(f"{IDLE} time=500ms\n")
    for action in ("check", "show"):
        assert run("scheme", action, str(path)) == 0
        assert "time=500ms of the quota is longer" in capsys.readouterr().err
        assert run("scheme", action, str(path), "--aggregation", "1s") == 0
        assert capsys.readouterr().err == ""
    path.write_text(f"{IDLE} time=1s\n")
    with pytest.raises(KlocError, match="time=1s is no limit: it is not below reset=1s"):
        run("scheme", "check", str(path))


def test_the_mean_size_of_regions_is_shown(
    fake: fake_damon.FakeDamon, capsys: pytest.CaptureFixture[str]
) -> None:
    made_up_nodes.make(fake.root, tiers=((0,), (1,)))
    assert run("scheme", "apply", "damon-tier", "--physical", "--regions", "10-100") == 0
    sizes = "regions of 10 MiB to 102 MiB on average"
    assert f"kdamond 1: {sizes}" in capsys.readouterr().err
    assert run("scheme", "show") == 0
    assert f"10 to 100 regions\n{sizes}\n" in capsys.readouterr().out


def test_several_files_are_checked_up_to_the_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.scheme"
    wrong.write_text("min max min min 1 max pageout\n")
    assert run("scheme", "check", "prcl", "ethp") == 0
    assert capsys.readouterr().out == "prcl: 1 correct\nethp: 2 correct\n"
    with pytest.raises(KlocError, match="1 of 3 files has a mistake"):
        run("scheme", "check", "prcl", str(wrong), "ethp")
    printed = capsys.readouterr()
    assert printed.out == "prcl: 1 correct\nethp: 2 correct\n"
    assert f"{wrong}:1: '1'" in printed.err


def test_a_scheme_is_applied_until_it_is_stopped(
    fake: fake_damon.FakeDamon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("scheme", "apply", "prcl", "--pid", "12") == 0
    assert "prcl runs on process 12; kloc scheme stop ends it" in capsys.readouterr().err
    assert fake.running()
    assert run("scheme", "show") == 0
    shown = capsys.readouterr().out
    assert "kdamond 0 runs on process 12 (started by kloc)" in shown
    assert "quota exceeded" in shown
    assert run("scheme", "show", "--json") == 0
    (kdamond,) = json.loads(capsys.readouterr().out)
    assert kdamond["own"] and kdamond["schemes"][0]["text"] == "4K max min min 5s max pageout"
    assert run("scheme", "stop") == 0
    assert not fake.running()
    assert run("scheme", "stop") == 0
    assert "kloc applies no scheme" in capsys.readouterr().err
    assert run("scheme", "show") == 0
    assert capsys.readouterr().out == "DAMON runs nothing\n"


def test_a_scheme_is_applied_for_a_time(
    fake: fake_damon.FakeDamon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("scheme", "apply", "prcl", "--pid", "12", "--for", "100ms", "--json") == 0
    (kdamond,) = json.loads(capsys.readouterr().out)
    assert kdamond["running"] and kdamond["stats"][0]["tried"] == 0
    assert not fake.running()
    assert damon.kdamonds() == []


def test_memory_that_a_scheme_leaves_out_is_named(
    fake: fake_damon.FakeDamon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_up_nodes.make(fake.root, tiers=((0,), (1,), (2,)))
    assert run("scheme", "apply", "damon-tier", "--physical") == 0
    printed = capsys.readouterr().err
    assert "no memory moves to node 2: that of each node moves to one node of slow" in printed
    assert "no scheme is for" not in printed
    assert len(damon.kdamonds()) == 3
    assert run("scheme", "stop") == 0
    path = tmp_path / "mine"
    path.write_text("4K max min min 1s max migrate_cold from=0 node=1\n")
    assert run("scheme", "apply", str(path), "--physical") == 0
    printed = capsys.readouterr().err
    assert "no scheme is for the memory of node 1" in printed
    assert "no scheme is for the memory of node 2" in printed


def test_memory_that_comes_after_the_scheme_is_named(
    fake: fake_damon.FakeDamon, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    made_up_nodes.make(fake.root, tiers=((0,), (1,)))
    assert run("scheme", "apply", "damon-tier", "--physical") == 0
    run("scheme", "show")
    assert "came after" not in capsys.readouterr().err
    made_up_nodes.online(fake.root, [0, 1, 2])
    later = "1.0 GiB of node 2 came after the scheme was applied"
    run("scheme", "show")
    assert later in capsys.readouterr().err
    run("scheme", "stop")
    run("scheme", "show")
    assert later not in capsys.readouterr().err

    made_up_nodes.online(fake.root, [0, 1])
    monkeypatch.setattr(command.time, "sleep", lambda _: made_up_nodes.online(fake.root, [0, 1, 2]))
    path = fake.root / "everything"
    path.write_text(f"{IDLE}\n")
    assert run("scheme", "apply", str(path), "--physical", "--for", "200ms") == 0
    assert later in capsys.readouterr().err


def test_a_target_that_ends_ends_the_command(
    fake: fake_damon.FakeDamon, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command.time, "sleep", lambda _: fake.end())
    assert run("scheme", "apply", "prcl", "--pid", "12", "--for", "1h") == 0
    assert "the target has ended" in capsys.readouterr().err


def test_ctrl_c_restores_the_settings(fake: fake_damon.FakeDamon, monkeypatch: Any) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command.time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run("scheme", "apply", "prcl", "--pid", "12", "--for", "1h")
    assert not fake.running()
    assert damon.kdamonds() == []


def test_monitoring_is_as_the_options_say(fake: fake_damon.FakeDamon) -> None:
    options = ("--sampling", "10ms", "--aggregation", "200ms", "--regions", "5-50")
    assert run("scheme", "apply", "prcl", "--pid", "12", *options) == 0
    attributes = damon.kdamonds()[0].attributes
    assert (attributes.sampling_us, attributes.aggregation_us) == (10_000, 200_000)
    assert (attributes.min_regions, attributes.max_regions) == (5, 50)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["check"], "needs a scheme"),
        (["apply"], "needs a scheme"),
        (["apply", "prcl"], "name one target"),
        (["apply", "prcl", "--pid", "1", "--physical"], "name one target"),
        (["stop", "prcl"], "takes no scheme"),
        (["show", "prcl", "ethp"], "takes one scheme"),
        (["show", "--pid", "1"], "belong to scheme apply"),
        (["check", "prcl", "--sampling", "1s"], "--sampling is above --aggregation"),
    ],
)
def test_wrong_combinations_are_errors(argv: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run("scheme", *argv)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["aply"], "'apply'"),
        (["apply", "prcl", "--for", "5"], "'5' is not a time"),
        (["apply", "prcl", "--for", "0s"], "'0s' is not a time"),
        (["apply", "prcl", "--regions", "2-10"], "3 or more regions"),
        (["apply", "prcl", "--pid", "0"], "'0'"),
    ],
)
def test_wrong_values_are_named(
    argv: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse("scheme", *argv)
    assert words in capsys.readouterr().err


def test_an_impossible_scheme_changes_nothing(fake: fake_damon.FakeDamon, tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("min max min max min max lru_prio\n")
    with pytest.raises(KlocError, match="no effect on processes"):
        run("scheme", "apply", str(path), "--pid", "12")
    assert not fake.written
