# SPDX-License-Identifier: GPL-2.0
"""The selected policy of memory tiers, its settings and its counts, read from made-up files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kloc.base import paths
from kloc.base.errors import KlocError
from kloc.server import system, tiering
from support import made_up_kernel


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root directory of a made-up kernel."""
    monkeypatch.setattr(system, "ROOT", made_up_kernel.make(tmp_path))
    return tmp_path


def test_a_kernel_with_policies_passes_the_check() -> None:
    tiering.check_kernel()


@pytest.mark.parametrize("has_laboratory", [True, False])
def test_a_kernel_without_policies_is_named_with_what_to_boot(
    has_laboratory: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The package for servers has no machine in which another kernel could be tried."""
    monkeypatch.setattr(system, "ROOT", tmp_path / "none")
    monkeypatch.setattr(paths, "has_laboratory", lambda: has_laboratory)
    with pytest.raises(KlocError, match=f"Linux {os.uname().release}") as error:
        tiering.check_kernel()
    assert "kloc kernel package" in str(error.value.hint)
    assert ("kloc run" in str(error.value.hint)) == has_laboratory


def test_the_policy_is_the_one_in_its_file(root: Path) -> None:
    assert tiering.selected() == "kloc"
    assert tiering.names() == ["none", "naive", "kloc", "kloc-cap"]
    (root / tiering.POLICY).unlink()
    assert tiering.selected() == tiering.NONE


def test_settings_are_those_of_all_policies_and_of_each(root: Path) -> None:
    settings = tiering.read_settings()
    assert list(settings) == [*tiering.COMMON, "kloc-cap/share", "kloc/inactive_age"]
    assert settings["rate_mbps"] == "512"
    (root / tiering.FOLDER / "pin").unlink()
    assert "pin" not in tiering.read_settings()


def test_counts_are_by_kind_and_name(root: Path) -> None:
    counts = tiering.read_counts()
    assert set(counts) == {"anon", "blockdev", "file"}
    assert counts["file"]["demoted_inactive_freed"] == 2000
    assert sum(map(len, counts.values())) == len(made_up_kernel.COUNTS)
    assert tiering.read_page_bytes() == 2 << 20
    shutil.rmtree(root / tiering.STATS)
    assert tiering.read_counts() == {}
