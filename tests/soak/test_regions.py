# SPDX-License-Identifier: GPL-2.0
"""No workload waits between warm-up and region.

A policy would take all of its memory for unused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.measure import workload
from kloc.measure.run_notes import IDLE_BEFORE_MAX_NS
from support.in_machine import kloc_run, read_run

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("name", workload.names())
def test_cores_are_busy_until_the_region_begins(name: str, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    kloc_run(name, "--quick", "--policy", "kloc", "--json", result)
    run = read_run(result)
    assert run["idle_before_ns"] <= IDLE_BEFORE_MAX_NS * run["cores"]
