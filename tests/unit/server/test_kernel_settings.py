# SPDX-License-Identifier: GPL-2.0
"""The settings of the kernel that the policy kloc depends on."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT
from kloc.server import kernel_settings, system
from support import made_up_kernel


def test_settings_are_wanted_as_the_policy_file_sets_them() -> None:
    policy = tomllib.loads((PROJECT / "policies/kloc.toml").read_text())["set"]
    wanted = {f"/{setting.path}": setting.wanted for setting in kernel_settings.SETTINGS.values()}
    assert wanted.items() <= policy.items()
    guide = (PROJECT / "kernel/files/Documentation/admin-guide/mm/kloc.rst").read_text()
    for path, value in wanted.items():
        assert f"echo {value} > {path}" in guide


def test_numbers_and_words_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = made_up_kernel.make(tmp_path, demotion_enabled="false", numa_balancing="3")
    (root / "proc/sys/vm/watermark_boost_factor").unlink()
    monkeypatch.setattr(system, "ROOT", root)
    values = kernel_settings.read_all()
    assert values == {"demotion_enabled": 0, "numa_balancing": 3, "watermark_boost_factor": None}
    demotion, boost = kernel_settings.remarks(values)
    assert demotion.startswith("demotion_enabled is 0: kswapd evicts")
    assert demotion.endswith("as root: echo 1 > /sys/kernel/mm/numa/demotion_enabled")
    assert boost.startswith("/proc/sys/vm/watermark_boost_factor does not exist")


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("demotion_enabled", 1, False),
        ("demotion_enabled", 0, True),
        ("numa_balancing", 2, False),
        ("numa_balancing", 3, False),
        ("numa_balancing", 1, True),
        ("watermark_boost_factor", 0, False),
        ("watermark_boost_factor", 15000, True),
    ],
)
def test_other_values_are_named(name: str, value: int, named: bool) -> None:
    values: dict[str, int | None] = {
        one: setting.wanted for one, setting in kernel_settings.SETTINGS.items()
    }
    found = list(kernel_settings.remarks({**values, name: value}))
    assert [one.startswith(f"{name} is {value}: ") for one in found] == [True] * named
