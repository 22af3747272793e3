# SPDX-License-Identifier: GPL-2.0
"""`kloc test`: which tests it has pytest run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kloc.base.errors import UsageError
from kloc.base.paths import PROJECT
from kloc.commands import test as command
from kloc.commands.test import PIECES
from kloc.measure import runner
from support import golden
from support.command import run


@pytest.fixture
def arguments(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> list[str]:
    """What pytest would have been called with."""
    called: list[str] = []

    def main(argv: list[str]) -> pytest.ExitCode:
        called.extend(argv)
        return pytest.ExitCode.OK

    monkeypatch.setattr(pytest, "main", main)
    monkeypatch.setattr(command, "_build", lambda: called.append("built"))
    monkeypatch.delenv(golden.UPDATE, raising=False)
    return called


def test_all_tests_but_soak_are_run(arguments: list[str]) -> None:
    assert run("test") == 0
    assert arguments[0] == "built"
    assert arguments[-1] == str(PROJECT / "tests")
    assert "not soak" in arguments
    assert golden.UPDATE not in os.environ


@pytest.mark.parametrize(("gib", "workers"), [(3, 1), (7, 1), (9, 2), (100, 3)])
def test_files_run_side_by_side_as_cores_and_memory_allow(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, gib: int, workers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(runner, "available_memory", lambda: gib << 30)
    run("test")
    at = arguments.index("--numprocesses")
    assert arguments[at + 1] == str(workers)


def test_named_tests_run_one_after_the_other_and_build_what_they_need(
    arguments: list[str],
) -> None:
    run("test", "tests/unit")
    assert "--numprocesses" not in arguments
    assert "built" not in arguments


def test_a_part_is_of_the_tests_that_take_long_one_after_the_other(arguments: list[str]) -> None:
    assert run("test", "--soak", "--part", "2/5") == 0
    assert arguments[0] == "built"
    assert arguments[arguments.index("-m") + 1] == "soak"
    assert "--part=2/5" in arguments
    assert "--numprocesses" not in arguments


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--part", "1/5"], "--part is of the tests that take long"),
        (["--soak", "--part", "1/5", "tests/soak"], "--part chooses the tests itself"),
        (["--soak", "--part", "1/5", "--update-golden"], "--part chooses the tests itself"),
        (["--soak", "--part", "1/99"], f"--part 1/99: there are {PIECES} parts at most"),
    ],
)
def test_a_part_that_makes_no_sense_is_refused(
    arguments: list[str], argv: list[str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run("test", *argv)
    assert not arguments


def test_options_choose_tests(arguments: list[str]) -> None:
    run("test", "--soak", "-x", "-k", "a or b", "--dry-run", "tests/unit")
    assert "not soak" not in arguments
    assert {"-x", "a or b", "--collect-only", "tests/unit"} <= set(arguments)


def test_update_golden_runs_the_tests_with_golden_files(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # monkeypatch removes the variable at the end.
    monkeypatch.setenv(golden.UPDATE, "")
    run("test", "--update-golden")
    assert os.environ[golden.UPDATE] == "1"
    files = {argument for argument in arguments if argument.endswith(".py")}
    assert str(PROJECT / "tests" / "unit" / "test_cli.py") in files
    assert str(PROJECT / "tests" / "unit" / "base" / "test_errors.py") not in files
    assert golden.COMMAND == "./kloc test --update-golden"
    assert golden.UPDATE == command.UPDATE_VARIABLE


def test_update_golden_takes_no_tests(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="--update-golden"):
        run("test", "--update-golden", "tests/unit")


def test_interrupt_has_the_status_of_one(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    monkeypatch.setattr(pytest, "main", lambda _: pytest.ExitCode.INTERRUPTED)
    monkeypatch.setattr(command, "_build", lambda: None)
    assert run("test") == 130
