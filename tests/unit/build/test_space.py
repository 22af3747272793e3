# SPDX-License-Identifier: GPL-2.0
"""The disk space that is checked before the first build."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base import cache, terminal
from kloc.base.errors import KlocError
from kloc.build import bootstrap, root, space

GIB = 1 << 30


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> dict[Path, int]:
    """The bytes that are free in the cache and for temporary files, which tests change."""
    free = {empty_cache: 20 * GIB, bootstrap.TEMPORARY: 20 * GIB}
    monkeypatch.setattr(space, "_free", free.__getitem__)
    terminal.stderr.cache_clear()
    return free


def test_enough_space_needs_no_message(
    free: dict[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    space.check()
    assert capsys.readouterr().err == ""


def test_space_for_a_machine_alone_is_said(
    free: dict[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    free[cache.directory()] = 7 * GIB
    space.check()
    assert "has space for 7.0 GiB" in capsys.readouterr().err


def test_what_the_cache_has_already_counts(
    free: dict[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    free[cache.directory()] = 5 * GIB
    monkeypatch.setattr(space, "_used", lambda _: 2 * GIB)
    space.check()


def test_packages_of_a_kernel_need_space_that_its_objects_may_have_already(
    free: dict[Path, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    objects = {tmp_path: 0}
    monkeypatch.setattr(space, "_used", objects.__getitem__)
    space.check_package(tmp_path)
    free[cache.directory()] = 4 * GIB
    with pytest.raises(KlocError, match=r"no space left on .*4.0 GiB, 10.0 GiB needed"):
        space.check_package(tmp_path)
    objects[tmp_path] = 6 * GIB
    space.check_package(tmp_path)


def test_too_little_space_is_refused_before_anything_is_built(
    free: dict[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root, "check_namespaces", lambda: None)
    monkeypatch.setattr(bootstrap, "bootstrap", lambda *_, **__: pytest.fail("built"))
    for directory in free:
        enough, free[directory] = free[directory], 600 << 20
        with pytest.raises(KlocError, match=f"no space left on {directory} .*600 MiB") as error:
            root.tool_root()
        assert error.value.hint
        free[directory] = enough
