# SPDX-License-Identifier: GPL-2.0
"""Where the pages of relocatable slabs are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.server import slabs, system


def test_caches_are_read_by_the_names_of_columns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / slabs.CACHES
    path.parent.mkdir(parents=True)
    path.write_text("cache\tslow\tfast\tpromoted\tdemoted\tnew\ndentry\t2\t1\t3\t4\t9\n")
    monkeypatch.setattr(system, "ROOT", tmp_path)
    expected = {"dentry": {"fast": 1, "slow": 2, "promoted": 3, "demoted": 4, "new": 9}}
    assert slabs.read_caches() == expected


@pytest.mark.parametrize("text", [None, "", "cache\tfast\tslow\tpromoted\tdemoted\n"])
def test_without_caches_that_can_move_nothing_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None
) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path)
    if text is not None:
        path = tmp_path / slabs.CACHES
        path.parent.mkdir(parents=True)
        path.write_text(text)
    assert slabs.read_caches() == {}
