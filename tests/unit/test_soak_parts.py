# SPDX-License-Identifier: GPL-2.0
"""The parts of the tests that take long: every such test is in one, and none takes too long."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

from kloc.base.paths import PROJECT
from kloc.commands.test import PARTS, PIECES
from support import soak

LONGEST = 25
"""Minutes that a part may take."""


def collected(*options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on all tests that take long; with --collect-only, it only lists them."""
    argv = ["-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "-m", "soak"]
    return subprocess.run(
        [sys.executable, *argv, *options, "tests"], cwd=PROJECT, capture_output=True, text=True
    )


@cache
def ids(*options: str) -> list[str]:
    return [line for line in collected(*options).stdout.splitlines() if "::" in line]


def test_each_test_that_takes_long_is_in_a_piece_and_each_piece_has_tests() -> None:
    tests = ids()
    assert [test for test in tests if soak.piece(test) is None] == []
    assert {soak.piece(test) for test in tests} == set(soak.MINUTES)


def test_a_part_runs_the_tests_of_its_pieces() -> None:
    pieces = soak.split(soak.MINUTES, PARTS)[1]
    assert ids(f"--part=2/{PARTS}") == [test for test in ids() if soak.piece(test) in pieces]


@pytest.mark.parametrize("count", [1, 2, 5, len(soak.MINUTES)])
def test_parts_have_each_piece_once(count: int) -> None:
    parts = soak.split(soak.MINUTES, count)
    assert len(parts) == count
    assert all(parts)
    assert sorted(name for part in parts for name in part) == sorted(soak.MINUTES)


def test_no_part_takes_too_long() -> None:
    parts = soak.split(soak.MINUTES, PARTS)
    assert max(soak.duration(part) for part in parts) < LONGEST


def test_parts_are_of_similar_duration() -> None:
    assert soak.split({"a": 5, "b": 4, "c": 3, "d": 3, "e": 1}, 2) == [["a", "d"], ["b", "c", "e"]]


def test_more_parts_than_pieces_are_refused() -> None:
    count = PIECES + 1
    assert len(soak.MINUTES) == PIECES
    with pytest.raises(ValueError, match=f"do not make {count} parts"):
        soak.split(soak.MINUTES, count)
    refused = collected(f"--part=1/{count}")
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--part 1/{count}: there are" in refused.stderr
