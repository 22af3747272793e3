# SPDX-License-Identifier: GPL-2.0
"""The entries of the cache directory, and which of them this checkout uses."""

from __future__ import annotations

import ast
import os
import time
from pathlib import Path

import pytest

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build import guest_image, kernel_package, programs, root
from kloc.commands import inventory
from kloc.machine import guest_commands
from kloc.measure import workload

DAY = 86400


def make_entry(kind: str, name: str, days: int = 0) -> Path:
    """Create an entry of 1 MiB that was last used `days` ago."""
    path = cache.directory() / kind / name
    path.mkdir(parents=True)
    (path / "content").write_bytes(bytes(1 << 20))
    os.utime(path, (time.time() - days * DAY,) * 2)
    return path


def built_kinds() -> set[str]:
    """Return every kind of entry that the code of the project and its tests builds."""
    kinds = set()
    for path in [*(PROJECT / "src").rglob("*.py"), *(PROJECT / "tests").rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "cache.build":
                kind = call.args[0]
                assert isinstance(kind, ast.Constant), f"{path}: {ast.unparse(call)}"
                kinds.add(kind.value)
    # The tests of the cache build this kind, in a cache of their own.
    return kinds - {"kind"}


def test_every_kind_has_a_description_and_a_builder(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    monkeypatch.setattr(root.Root, "versions", lambda _: dict.fromkeys(root.VERSIONS_OF, "1"))
    # Debian's configuration is in the tool root.
    monkeypatch.setattr(kernel_package.Build, "config", "")
    assert "kernel" in built_kinds()
    assert built_kinds() <= inventory.CONTENTS.keys()
    # What a workload has prepared is known only once there is a kernel to prepare it with.
    asked: list[str] = []
    monkeypatch.setattr(inventory, "prepare_parts", lambda *_: None)
    monkeypatch.setattr(inventory.prepared, "disk", lambda one, *_: asked.append(one.name))
    used = {path.parent.name for path in inventory.used_here()}
    assert built_kinds() - {"prepared"} <= used
    assert "rocksdb" in asked


def test_what_the_shell_bench_and_the_tests_need_is_used_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests: list[object] = []
    monkeypatch.setattr(guest_image, "guest_image", requests.append)
    monkeypatch.setattr(programs, "build", requests.append)
    monkeypatch.setattr(inventory.prepared, "disk", lambda *_: None)
    inventory.used_here()
    assert guest_commands.PACKAGES in requests
    assert PROJECT / "tests/plugin/hotset.c" in requests
    assert PROJECT / "machine/known/known_latency.c" in requests


def test_items_have_size_age_and_use(empty_cache: Path) -> None:
    old = make_entry("plugin", "1" * 20, days=31)
    new = make_entry("guest", "2" * 20)
    (empty_cache / "plugin" / "notes").mkdir()
    assert [item.path for item in inventory.items()] == [old, new]
    item = inventory.items()[0]
    assert item.kind == "plugin"
    assert 1 << 20 <= item.size < 2 << 20
    assert 31 <= item.days < 32
    assert not item.used_here


def test_entry_that_is_used_is_not_old(empty_cache: Path) -> None:
    used = make_entry("plugin", "2" * 20, days=31)
    old = make_entry("plugin", "3" * 20 + cache.DRAFT, days=31)
    cache.build("plugin", "2" * 20, lambda draft: pytest.fail("built again"))
    days = {item.path: item.days for item in inventory.items()}
    assert days[used] < 1
    assert days[old.with_name("3" * 20)] > cache.OLD_DAYS


def test_sizes_are_of_kinds_that_exist(empty_cache: Path) -> None:
    assert inventory.sizes() == {}
    make_entry("kernel", "1" * 20)
    (empty_cache / "mine").mkdir()
    sizes = inventory.sizes()
    assert sizes.keys() == {"kernel"}
    assert 1 << 20 <= sizes["kernel"] < 2 << 20


def test_unreadable_workload_is_reported_and_leaves_other_entries_known(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    def fail() -> list[str]:
        raise KlocError("bad.py, line 1: NameError")

    monkeypatch.setattr(workload, "names", fail)
    with pytest.raises(KlocError, match=r"bad\.py"):
        inventory.check()
    assert "plugin" in {path.parent.name for path in inventory.used_here()}
