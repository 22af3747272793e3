# SPDX-License-Identifier: GPL-2.0
import argparse
import ast
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kloc.base import cache, terminal
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build import apt_sources, guest_image, host, plugin, programs, root
from kloc.commands import doctor, inventory
from kloc.machine import guest_commands
from kloc.measure import workload


def options(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    doctor.add_arguments(parser)
    return parser.parse_args(argv)


def test_what_is_missing_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(host, "missing", lambda: ["mmdebstrap"])
    assert doctor.run(options("--json")) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["cache"] == str(empty_cache)
    (packages,) = [found for found in document["findings"] if found["what"] == "packages"]
    assert packages["state"] == "missing: mmdebstrap"
    assert "apt-get install mmdebstrap" in packages["remedy"]


def test_what_the_cache_holds_is_weighed(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty_cache / "kernel").mkdir()
    (empty_cache / "kernel" / "bzImage").write_bytes(bytes(1 << 20))
    doctor.run(options("--json"))
    sizes = json.loads(capsys.readouterr().out)["cache_bytes"]
    assert sizes.keys() == {"kernel"}
    assert 1 << 20 <= sizes["kernel"] < 2 << 20


def test_it_is_readable(empty_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doctor.run(options())
    assert "nothing yet" in capsys.readouterr().out


DAY = 86400


@pytest.fixture
def full_cache(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> Path:
    """A cache with a tool root, and timing models: this checkout's, another, two old ones."""
    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    _item("root", cache.key(apt_sources.SUITE, *root.PACKAGES))
    with cache.dry_run() as noted:
        plugin.build()
    (model,) = {path.name for path in noted if path.parent.name == "plugin"}
    _item("plugin", model)
    _item("plugin", "1" * 20)
    _item("plugin", "2" * 20, days=31)
    _item("plugin", "3" * 20 + cache.DRAFT, days=31)
    (empty_cache / "plugin" / "notes").mkdir()
    return empty_cache


def _item(kind: str, name: str, days: int = 0) -> None:
    path = cache.directory() / kind / name
    path.mkdir(parents=True)
    (path / "content").write_bytes(bytes(1 << 20))
    os.utime(path, (time.time() - days * DAY,) * 2)


def names(cached: Path) -> list[str]:
    return sorted(path.name for path in (cached / "plugin").iterdir() if path.is_dir())


def test_what_this_checkout_does_not_use_is_told(
    full_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor.run(options("--json"))
    document = json.loads(capsys.readouterr().out)
    unused = document["cache_unused_bytes"]
    assert unused.keys() == {"plugin"}
    assert 3 << 20 <= unused["plugin"] < document["cache_bytes"]["plugin"]
    doctor.run(options())
    assert "3 MiB not used" in capsys.readouterr().out


def test_what_is_old_is_removed(full_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = names(full_cache)
    assert doctor.run(options("--prune", "--dry-run")) == 0
    assert names(full_cache) == before
    assert doctor.run(options("--prune")) == 0
    assert set(before) - set(names(full_cache)) == {"2" * 20, "3" * 20 + cache.DRAFT}
    assert "removed 2 MiB" in capsys.readouterr().out
    doctor.run(options("--prune"))
    assert "there is nothing to remove" in capsys.readouterr().out


def test_what_is_used_is_not_old(full_cache: Path) -> None:
    cache.build("plugin", "2" * 20, lambda draft: pytest.fail("built again"))
    old = {item.path.name for item in inventory.items() if item.days > inventory.OLD_DAYS}
    assert old == {"3" * 20}


def test_what_this_checkout_does_not_use_is_removed(full_cache: Path) -> None:
    before = names(full_cache)
    doctor.run(options("--prune", "all-unused"))
    gone = {"1" * 20, "2" * 20, "3" * 20 + cache.DRAFT}
    assert set(before) - set(names(full_cache)) == gone
    assert "notes" in names(full_cache)
    assert inventory.used_here() >= {item.path for item in inventory.items()}


def kinds() -> set[str]:
    """Return every kind of thing that the project and its tests have the cache build."""
    found = set()
    for path in [*(PROJECT / "src").rglob("*.py"), *(PROJECT / "tests").rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "cache.build":
                kind = call.args[0]
                assert isinstance(kind, ast.Constant), f"{path}: {ast.unparse(call)}"
                found.add(kind.value)
    # What the tests of the cache itself build, in a cache of their own.
    return found - {"kind"}


def test_all_kinds_are_known_and_asked_for(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    monkeypatch.setattr(root.Root, "versions", lambda _: dict.fromkeys(root.VERSIONS_OF, "1"))
    assert "kernel-um" in kinds()
    assert kinds() <= inventory.CONTENTS.keys()
    assert kinds() <= {path.parent.name for path in inventory.used_here()}


def test_what_the_shell_and_the_tests_need_is_used_here(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(guest_image, "guest_image", asked.append)
    monkeypatch.setattr(programs, "build", asked.append)
    inventory.used_here()
    assert guest_commands.PACKAGES in asked
    assert PROJECT / "tests/plugin/chase.c" in asked


def test_nothing_is_removed_unasked(monkeypatch: pytest.MonkeyPatch, full_cache: Path) -> None:
    before = names(full_cache)
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(KlocError, match="Remove these 2"):
        doctor.run(options("--prune"))
    monkeypatch.setattr(terminal, "ask", lambda *_: False)
    doctor.run(options("--prune"))
    assert names(full_cache) == before


def test_it_helps_on_a_small_host(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 1 << 18))
    assert doctor.run(options("--json")) == 1
    found = {found["what"]: found for found in json.loads(capsys.readouterr().out)["findings"]}
    assert not found["memory"]["well"]
    assert found["workloads and machines"]["well"]


@pytest.fixture
def mistaken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A checkout with a workload that cannot be read."""
    (tmp_path / "bad.py").write_text("mistake\n")
    monkeypatch.setattr(workload, "WORKLOADS", tmp_path)
    workload._registry.cache_clear()
    yield
    workload._registry.cache_clear()


def test_it_says_which_workload_cannot_be_read(
    mistaken: None, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor.run(options("--json")) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    (workloads,) = [found for found in findings if found["what"] == "workloads and machines"]
    assert "bad.py, line 1: NameError" in workloads["state"]


def test_what_is_not_known_to_be_unused_stays(mistaken: None, full_cache: Path) -> None:
    before = names(full_cache)
    with pytest.raises(KlocError, match=r"bad\.py"):
        doctor.run(options("--prune", "all-unused"))
    assert names(full_cache) == before
    assert doctor.run(options("--prune", "old")) == 0


@pytest.mark.parametrize("argv", [("--dry-run",), ("--prune", "--json")])
def test_options_that_say_nothing_together(argv: tuple[str, ...], empty_cache: Path) -> None:
    with pytest.raises(KlocError, match="goes with"):
        doctor.run(options(*argv))
