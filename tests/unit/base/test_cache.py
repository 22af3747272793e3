# SPDX-License-Identifier: GPL-2.0
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT


def test_a_key_is_of_content(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder = tmp_path / name
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "file").write_text("x")
        (folder / "link").symlink_to("sub/file")
    one = cache.key(tmp_path / "a")
    assert cache.key(tmp_path / "b") == one
    (tmp_path / "b" / "sub" / "file").chmod(0o755)
    assert cache.key(tmp_path / "b") != one
    assert cache.key("ab", "c") != cache.key("a", "bc")


def test_what_is_there_is_not_built_again(empty_cache: Path) -> None:
    made = cache.build("kind", "key", lambda draft: (draft / "it").touch())
    assert made == empty_cache / "kind" / "key"
    assert (made / "it").exists()
    assert cache.build("kind", "key", lambda draft: pytest.fail("built again")) == made


def test_a_failed_build_leaves_nothing(empty_cache: Path) -> None:
    def fail(draft: Path) -> None:
        (draft / "half").touch()
        raise KlocError("no")

    with pytest.raises(KlocError):
        cache.build("kind", "key", fail)
    assert sorted(path.name for path in (empty_cache / "kind").iterdir()) == [
        "key.lock",
        "key.used",
    ]


BUILD = """
import sys, time
from pathlib import Path
from kloc.base import cache
cache.use_directory(Path(sys.argv[1]))
def make(draft):
    time.sleep(0.5)
    with (draft.parents[1] / "log").open("a") as log:
        log.write("built\\n")
    (draft / "whole").touch()
assert (cache.build("kind", "key", make) / "whole").exists()
"""


def test_two_processes_share_a_build(empty_cache: Path) -> None:
    argv = [sys.executable, "-c", BUILD, str(empty_cache)]
    env = {"PYTHONPATH": str(PROJECT / "src")}
    processes = [subprocess.Popen(argv, env=env) for _ in range(3)]
    assert [process.wait(timeout=30) for process in processes] == [0, 0, 0]
    assert (empty_cache / "log").read_text() == "built\n"


def test_a_run_leaves_nothing(empty_cache: Path) -> None:
    with cache.scratch("run") as folder:
        (folder / "file").touch()
    with pytest.raises(KeyboardInterrupt), cache.scratch("run"):
        raise KeyboardInterrupt
    assert not [path for path in (empty_cache / "scratch").iterdir() if path.is_dir()]


def test_the_last_failed_runs_are_kept(empty_cache: Path) -> None:
    failed = []
    for number in range(cache.FAILED_KEPT + 2):
        with pytest.raises(KlocError), cache.scratch("run") as folder:
            failed.append(folder)
            raise KlocError("no")
        # The clock of a file system ticks more slowly than this.
        os.utime(folder, (number, number))
    with cache.scratch("other"):
        kept = {path for path in failed if path.exists()}
    assert kept == set(failed[-cache.FAILED_KEPT :])


def test_what_a_killed_run_left_is_removed(empty_cache: Path) -> None:
    left = empty_cache / "scratch" / "run-dead"
    left.mkdir(parents=True)
    (left / cache.RUNNING).touch()
    with cache.scratch("run") as alive, cache.scratch("run"):
        assert not left.exists()
        assert alive.exists()


def test_closed_folders_are_removed(tmp_path: Path) -> None:
    closed = tmp_path / "tree" / "closed"
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0o500)
    cache.remove(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_a_cache_that_cannot_be_made(tmp_path: Path, empty_cache: Path) -> None:
    (tmp_path / "file").touch()
    cache.use_directory(tmp_path / "file" / "cache")
    with pytest.raises(KlocError, match="cannot be made"):
        cache.directory()
    cache.use_directory(empty_cache)


USE = """
import sys
from pathlib import Path
from kloc.base import cache
cache.use_directory(Path(sys.argv[1]))
cache.build("kind", sys.argv[2], lambda draft: (draft / "it").touch())
print("ready", flush=True)
sys.stdin.read()
"""


def test_what_another_process_uses_is_not_removed(empty_cache: Path) -> None:
    key = cache.key("it")
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
        assert (entry / "it").exists()
    assert cache.discard(entry)
    assert cache.entries("kind") == []


def test_what_is_being_made_is_not_removed(empty_cache: Path) -> None:
    def make(draft: Path) -> None:
        (entry,) = cache.entries("kind")
        assert not cache.discard(entry)
        (draft / "it").touch()

    assert (cache.build("kind", cache.key("it"), make) / "it").exists()


def test_what_would_be_built_is_noted_and_not_built(empty_cache: Path) -> None:
    with cache.dry_run() as noted:
        cache.build("kind", "key", lambda draft: pytest.fail("built"))
    assert noted == {empty_cache / "kind" / "key"}
