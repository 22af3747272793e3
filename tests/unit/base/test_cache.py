# SPDX-License-Identifier: GPL-2.0
"""The cache: entries are complete or absent, and processes share them."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT


def test_key_depends_on_content_and_mode_only(tmp_path: Path) -> None:
    for name in ("a", "b"):
        directory = tmp_path / name
        (directory / "sub").mkdir(parents=True)
        (directory / "sub" / "file").write_text("x")
        (directory / "link").symlink_to("sub/file")
    key = cache.key(tmp_path / "a")
    assert cache.key(tmp_path / "b") == key
    (tmp_path / "b" / "sub" / "file").chmod(0o755)
    assert cache.key(tmp_path / "b") != key


def test_key_depends_on_where_parts_end() -> None:
    assert cache.key("ab", "c") != cache.key("a", "bc")


def test_entry_is_built_once(empty_cache: Path) -> None:
    entry = cache.build("kind", "key", lambda draft: (draft / "file").touch())
    assert entry == empty_cache / "kind" / "key"
    assert (entry / "file").exists()
    assert cache.build("kind", "key", lambda draft: pytest.fail("built again")) == entry


def test_failed_build_leaves_no_entry(empty_cache: Path) -> None:
    def fail(draft: Path) -> None:
        (draft / "partial").touch()
        raise KlocError("no")

    with pytest.raises(KlocError):
        cache.build("kind", "key", fail)
    left = sorted(path.name for path in (empty_cache / "kind").iterdir())
    assert left == ["key.lock", "key.used"]


BUILD = """
import sys, time
from pathlib import Path
from kloc.base import cache
cache.use_directory(Path(sys.argv[1]))
def make(draft):
    time.sleep(0.5)
    with (draft.parents[1] / "log").open("a") as log:
        log.write("built\\n")
    (draft / "complete").touch()
assert (cache.build("kind", "key", make) / "complete").exists()
"""


def test_processes_share_one_build(empty_cache: Path) -> None:
    argv = [sys.executable, "-c", BUILD, str(empty_cache)]
    env = {"PYTHONPATH": str(PROJECT / "src")}
    processes = [subprocess.Popen(argv, env=env) for _ in range(3)]
    assert [process.wait(timeout=30) for process in processes] == [0, 0, 0]
    assert (empty_cache / "log").read_text() == "built\n"


def test_scratch_directory_is_removed_after_success_and_interrupt(empty_cache: Path) -> None:
    with cache.scratch("run") as directory:
        (directory / "file").touch()
    with pytest.raises(KeyboardInterrupt), cache.scratch("run"):
        raise KeyboardInterrupt
    assert not [path for path in (empty_cache / "scratch").iterdir() if path.is_dir()]


def test_last_failed_runs_are_kept(empty_cache: Path) -> None:
    failed = []
    for number in range(cache.FAILED_KEPT + 2):
        with pytest.raises(KlocError), cache.scratch("run") as directory:
            failed.append(directory)
            raise KlocError("no")
        # Runs follow each other faster than the file system's time resolution.
        os.utime(directory, (number, number))
    with cache.scratch("other"):
        kept = {path for path in failed if path.exists()}
    assert kept == set(failed[-cache.FAILED_KEPT :])


def test_directory_of_a_killed_run_is_removed(empty_cache: Path) -> None:
    killed = empty_cache / "scratch" / "run-killed"
    killed.mkdir(parents=True)
    (killed / cache.RUNNING).touch()
    with cache.scratch("run") as alive, cache.scratch("run"):
        assert not killed.exists()
        assert alive.exists()


def test_remove_includes_read_only_directories(tmp_path: Path) -> None:
    read_only = tmp_path / "tree" / "read-only"
    read_only.mkdir(parents=True)
    (read_only / "file").touch()
    read_only.chmod(0o500)
    cache.remove(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_cache_directory_that_cannot_be_created_is_an_error(
    tmp_path: Path, empty_cache: Path
) -> None:
    (tmp_path / "file").touch()
    cache.use_directory(tmp_path / "file" / "cache")
    with pytest.raises(KlocError, match="cannot create the cache directory") as error:
        cache.directory()
    assert "--cache" in (error.value.hint or "")


USE = """
import sys
from pathlib import Path
from kloc.base import cache
cache.use_directory(Path(sys.argv[1]))
cache.build("kind", sys.argv[2], lambda draft: (draft / "file").touch())
print("ready", flush=True)
sys.stdin.read()
"""


def test_entry_in_use_is_not_discarded(empty_cache: Path) -> None:
    key = cache.key("content")
    user = subprocess.Popen(
        [sys.executable, "-c", USE, str(empty_cache), key],
        env={"PYTHONPATH": str(PROJECT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with user:
        assert user.stdout is not None and user.stdout.readline() == "ready\n"
        (entry,) = cache.entries("kind")
        assert not cache.discard(entry)
        assert (entry / "file").exists()
    assert cache.discard(entry)
    assert cache.entries("kind") == []


def test_entry_being_built_is_not_discarded(empty_cache: Path) -> None:
    def make(draft: Path) -> None:
        (entry,) = cache.entries("kind")
        assert cache.entry_directories(entry) == [draft]
        assert not cache.discard(entry)
        (draft / "file").touch()

    assert (cache.build("kind", cache.key("content"), make) / "file").exists()


def test_dry_run_yields_requested_entries_and_builds_none(empty_cache: Path) -> None:
    with cache.dry_run() as requested:
        cache.build("kind", "key", lambda draft: pytest.fail("built"))
    assert requested == {empty_cache / "kind" / "key"}


def test_cache_that_cannot_be_written_is_used_for_what_it_has(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = cache.build("kind", "key", lambda draft: None)
    (empty_cache / "kind" / "old").mkdir()
    monkeypatch.setattr(cache, "is_writable", lambda: False)
    monkeypatch.setattr(cache, "_held", {})
    monkeypatch.setattr(cache, "TEMPORARY_SCRATCH", tmp_path / "scratch")
    before = {path: path.stat().st_mtime_ns for path in empty_cache.rglob("*")}
    assert cache.build("kind", "key", lambda draft: pytest.fail("built")) == entry
    # An entry that nobody has used has no mark to lock.
    assert cache.build("kind", "old", lambda draft: pytest.fail("built")).name == "old"
    with pytest.raises(KlocError, match="no kind new, and it cannot be written") as error:
        cache.build("kind", "new", lambda draft: pytest.fail("built"))
    assert error.value.hint
    with cache.scratch("run") as directory:
        (directory / "file").touch()
    assert directory.parent == tmp_path / f"scratch-{os.getuid()}"
    assert {path: path.stat().st_mtime_ns for path in empty_cache.rglob("*")} == before


def test_entry_that_is_used_read_only_is_not_removed(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = cache.build("kind", "key", lambda draft: None)
    cache._held.pop(entry).close()
    with monkeypatch.context() as shared:
        shared.setattr(cache, "is_writable", lambda: False)
        cache.hold(entry)
    assert not cache.discard(entry)
    cache._held.pop(entry).close()
    assert cache.discard(entry)


def test_home_is_that_of_the_user_if_it_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KLOC_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    expected = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache" / "kloc"
    for home in (None, ""):
        if home is None:
            monkeypatch.delenv("HOME")
        else:
            monkeypatch.setenv("HOME", home)
        assert cache._default_directory() == expected
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    with pytest.raises(KlocError, match="HOME is not set") as error:
        cache._default_directory()
    assert "--cache" in (error.value.hint or "")
