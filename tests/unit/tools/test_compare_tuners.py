# SPDX-License-Identifier: GPL-2.0
"""The comparison of optimizers."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from kloc.base.paths import PROJECT
from kloc.tune.patterns import PATTERNS


@pytest.fixture
def tool() -> ModuleType:
    spec = spec_from_file_location("compare_tuners", PROJECT / "tools" / "compare_tuners.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_has_each_pattern_and_the_mean_of_all(tool: ModuleType) -> None:
    lines = list(tool.rows(["paper"], [6, 9], [0.0], seeds=2))
    assert len(lines) == 1 + 2 * len(PATTERNS) + 1
    assert lines[0].split() == ["pattern", "samples", "noise", "paper", "worst"]
    assert lines[-1].split()[0] == "all"


def test_regret_is_never_negative(tool: ModuleType) -> None:
    for pattern in PATTERNS.values():
        assert tool.regret(pattern, "paper", 10, 0.02, seed=1) >= 0


def test_each_seed_has_a_verdict(tool: ModuleType) -> None:
    lines = list(tool.verdict_rows(["paper"], [6], [0.02], seeds=3))
    assert len(lines) == 1 + len(PATTERNS) + 1
    assert all(sum(map(int, line.split()[-3:])) == 3 for line in lines[1:])
