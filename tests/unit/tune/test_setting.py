# SPDX-License-Identifier: GPL-2.0
"""Values of a threshold are applied with DAMON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kloc.schemes import damon, text
from kloc.schemes.sysfs import Attributes, Processes
from kloc.tune.setting import DamonSetting
from support import fake_damon


def test_a_value_is_applied_and_none_is_not(monkeypatch: Any, tmp_path: Path) -> None:
    fake = fake_damon.install(monkeypatch, tmp_path)
    with damon.taken() as taken:
        setting = DamonSetting(taken, text.load("ethp"), Attributes())
        setting.start(None, [12])
        assert not fake.running()
        setting.start(20e6, [12])
        (kdamond,) = damon.kdamonds()
        assert [scheme.min_age for scheme in kdamond.schemes] == [0, 20_000_000]
        setting.follow([12, 13])
        assert damon.kdamonds()[0].target == Processes((12, 13))
        assert setting.pids == (12, 13)
        setting.stop()
        assert not fake.running()
