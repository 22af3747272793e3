# SPDX-License-Identifier: GPL-2.0
"""`kloc doctor`: its findings, and how it prunes the cache."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from kloc.base import cache, paths, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.build import host, plugin, root
from kloc.commands import inventory
from kloc.measure import workload
from support.command import run

DAY = 86400


def findings(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    return {finding["what"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}


def names(cached: Path) -> set[str]:
    return {path.name for path in (cached / "plugin").iterdir() if path.is_dir()}


@pytest.fixture(autouse=True)
def console() -> None:
    terminal.stdout.cache_clear()


@pytest.fixture
def full_cache(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> Path:
    """A cache with the tool root, and four plugins: this checkout's, a new one, two old ones."""
    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    make_entry("root", root.tool_root_key())
    with cache.dry_run() as paths:
        plugin.build()
    (used,) = {path.name for path in paths if path.parent.name == "plugin"}
    make_entry("plugin", used)
    make_entry("plugin", "1" * 20)
    make_entry("plugin", "2" * 20, days=31)
    make_entry("plugin", "3" * 20 + cache.DRAFT, days=31)
    (empty_cache / "plugin" / "notes").mkdir()
    return empty_cache


def make_entry(kind: str, name: str, days: int = 0) -> None:
    """Create an entry of 1 MiB that was last used `days` ago."""
    path = cache.directory() / kind / name
    path.mkdir(parents=True)
    (path / "content").write_bytes(bytes(1 << 20))
    os.utime(path, (time.time() - days * DAY,) * 2)


@pytest.fixture
def broken_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout with a workload that cannot be read."""

    def fail() -> list[str]:
        raise KlocError("bad.py, line 1: NameError")

    monkeypatch.setattr(workload, "names", fail)


def test_missing_packages_are_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(host, "missing", lambda: ["mmdebstrap"])
    assert run("doctor", "--json") == 1
    packages = findings(capsys)["packages"]
    assert not packages["well"]
    assert "mmdebstrap" in packages["state"]
    assert "apt-get install mmdebstrap" in packages["remedy"]


def test_json_has_the_cache_and_its_sizes(
    full_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("doctor", "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["cache"] == str(full_cache)
    assert document["cache_bytes"].keys() == {"root", "plugin"}
    assert document["cache_unused_bytes"].keys() == {"plugin"}
    unused = document["cache_unused_bytes"]["plugin"]
    assert 3 << 20 <= unused < document["cache_bytes"]["plugin"]


def test_table_has_findings_and_cache(
    full_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("doctor", "--json", f"{tmp_path}/d.json")
    printed = capsys.readouterr().out
    for finding in json.loads((tmp_path / "d.json").read_text())["findings"]:
        assert finding["what"] in printed
    assert str(full_cache) in printed.replace("\n", "")
    assert "3 MiB not used" in printed


def test_empty_cache_is_shown(empty_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("doctor")
    assert "nothing yet" in capsys.readouterr().out


def test_brackets_in_states_are_printed(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(host, "description", lambda: "Debian [red]13[/]")
    run("doctor")
    assert "Debian [red]13[/]" in capsys.readouterr().out


def test_prune_deletes_old_entries(full_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = names(full_cache)
    assert run("doctor", "--prune", "--dry-run") == 0
    assert names(full_cache) == before
    assert run("doctor", "--prune") == 0
    assert before - names(full_cache) == {"2" * 20, "3" * 20 + cache.DRAFT}
    assert "deleted 2 MiB" in capsys.readouterr().out
    run("doctor", "--prune")
    assert "nothing to delete" in capsys.readouterr().out


def test_prune_all_unused_deletes_what_this_checkout_does_not_use(full_cache: Path) -> None:
    before = names(full_cache)
    run("doctor", "--prune", "all-unused")
    assert before - names(full_cache) == {"1" * 20, "2" * 20, "3" * 20 + cache.DRAFT}
    assert "notes" in names(full_cache)
    assert inventory.used_here() >= {item.path for item in inventory.items()}


def test_entry_in_use_stays(
    full_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cache, "discard", lambda path: path.name != "2" * 20)
    run("doctor", "--prune")
    printed = capsys.readouterr().out
    assert f"in use, not deleted: plugin {'2' * 20}" in printed
    assert "deleted 1 MiB" in printed


def test_nothing_is_deleted_without_consent(
    monkeypatch: pytest.MonkeyPatch, full_cache: Path
) -> None:
    before = names(full_cache)
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(KlocError, match="2 cache entries") as refused:
        run("doctor", "--prune")
    assert "--yes" in str(refused.value.hint)
    monkeypatch.setattr(terminal, "ask", lambda *_: False)
    run("doctor", "--prune")
    assert names(full_cache) == before


def test_small_host_gets_all_findings(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 1 << 18))
    assert run("doctor", "--json") == 1
    found = findings(capsys)
    assert not found["memory"]["well"]
    assert found["memory"]["remedy"]
    assert found["workloads and machines"]["well"]


def test_unreadable_workload_is_a_finding(
    broken_workload: None, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("doctor", "--json") == 1
    assert "bad.py, line 1" in findings(capsys)["workloads and machines"]["state"]


def test_unused_entries_are_unknown_while_a_workload_is_unreadable(
    broken_workload: None, full_cache: Path
) -> None:
    before = names(full_cache)
    with pytest.raises(KlocError, match=r"bad\.py"):
        run("doctor", "--prune", "all-unused")
    assert names(full_cache) == before
    assert run("doctor", "--prune", "old") == 0


@pytest.mark.parametrize("argv", [("--dry-run",), ("--prune", "--json")], ids=" ".join)
def test_options_without_meaning_together_are_refused(
    argv: tuple[str, ...], empty_cache: Path
) -> None:
    with pytest.raises(UsageError, match="--prune"):
        run("doctor", *argv)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server with a package of kloc that has no machine."""
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "kloc")
    monkeypatch.setattr(cache, "directory", lambda: pytest.fail("used the cache"))


def test_package_without_the_machine_says_how_to_get_it(
    server: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("doctor", "--json") == 0
    found = findings(capsys)
    assert found["python"]["well"]
    machine = found["machine"]
    assert (machine["well"], machine["needed"]) == (False, False)
    assert "./kloc" in machine["remedy"]
    run("doctor")
    assert "--  machine" in capsys.readouterr().out


def test_pruning_needs_the_machine(server: None) -> None:
    with pytest.raises(KlocError, match="--prune needs the simulated machine"):
        run("doctor", "--prune")
