# SPDX-License-Identifier: GPL-2.0
"""How fast this host measures is kept from the last measurement."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.measure import host_speed


def test_a_host_that_has_not_measured_has_no_estimate(empty_cache: Path) -> None:
    assert host_speed.seconds(1e9, 1) is None


def test_tasks_take_as_long_as_those_of_the_last_measurement(empty_cache: Path) -> None:
    host_speed.note(40e9, 100, 2)
    assert host_speed.seconds(40e9, 2) == pytest.approx(100)
    # One machine alone executes half as much in a second.
    assert host_speed.seconds(40e9, 1) == pytest.approx(200)
    host_speed.note(80e9, 100, 2)
    assert host_speed.seconds(40e9, 2) == pytest.approx(50)


def test_a_measurement_without_instructions_is_no_basis(empty_cache: Path) -> None:
    host_speed.note(0, 100, 2)
    host_speed.note(1e9, 0, 2)
    assert host_speed.seconds(1e9, 1) is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"instructions_per_second": 0}'])
def test_a_damaged_file_is_no_basis(text: str, empty_cache: Path) -> None:
    (empty_cache / host_speed.NAME).write_text(text)
    assert host_speed.seconds(1e9, 1) is None


def test_a_cache_that_cannot_be_written_loses_no_result(empty_cache: Path) -> None:
    (empty_cache / host_speed.NAME).mkdir()
    host_speed.note(1e9, 1, 1)
    assert host_speed.seconds(1e9, 1) is None
