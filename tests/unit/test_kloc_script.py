# SPDX-License-Identifier: GPL-2.0
"""The ./kloc script on hosts without Python or an environment: what it installs, what it says."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT

TOOLS = ("cut", "dirname", "env", "flock", "id", "mkdir", "readlink", "rm", "sha256sum")

SECONDS = 20
"""How long a test waits for a process."""

SLOW_PYTHON = f"""\
#!/bin/sh
[ "$1" != -c ] || exit 0
exec {sys.executable} -c 'import pathlib, time; pathlib.Path("BEGUN").touch(); time.sleep(60)'
"""
"""A Python that takes long to make an environment, and says in a file that it has begun."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A directory for $PATH with a few tools and no Python."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for tool in TOOLS:
        (directory / tool).symlink_to(shutil.which(tool) or pytest.fail(tool))
    return directory


def start(path: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", PROJECT / "kloc", *argv],
        env={"PATH": str(path), "HOME": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_system_without_apt_is_told_the_requirement(path: Path) -> None:
    done = start(path, "doctor")
    assert done.returncode == 1
    assert "Python 3.11" in done.stderr


def test_nothing_is_installed_without_a_terminal(path: Path) -> None:
    (path / "apt-get").symlink_to("/bin/false")
    done = start(path, "doctor")
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_apt_that_fails_is_an_error(path: Path) -> None:
    (path / "apt-get").symlink_to("/bin/false")
    (path / "sudo").symlink_to("/usr/bin/env")
    done = start(path, "doctor", "--yes")
    assert done.returncode == 1
    assert "python3-venv" in done.stderr


def test_interrupt_while_the_environment_is_made_prints_one_line(
    path: Path, tmp_path: Path
) -> None:
    (path / "python3").write_text(SLOW_PYTHON.replace("BEGUN", str(tmp_path / "begun")))
    (path / "python3").chmod(0o755)
    kloc = subprocess.Popen(
        ["/bin/sh", PROJECT / "kloc", "doctor"],
        env={"PATH": str(path), "HOME": str(path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(tmp_path / "begun")
    os.killpg(kloc.pid, signal.SIGINT)
    _, printed = kloc.communicate(timeout=SECONDS)
    assert kloc.returncode == 130
    assert printed.splitlines()[1:] == ["kloc: interrupted"]


def test_what_failed_while_the_environment_was_made_is_shown(path: Path) -> None:
    (path / "python3").write_text('#!/bin/sh\n[ "$1" = -c ] || { echo no venv; exit 1; }\n')
    (path / "python3").chmod(0o755)
    done = start(path, "doctor")
    assert done.returncode == 1
    assert "no venv\nkloc: cannot create the Python environment" in done.stderr


def wait_for(file: Path) -> None:
    end = time.monotonic() + SECONDS
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("argv", "begin"),
    [
        (["--help"], "usage: kloc COMMAND"),
        ([], "usage: kloc COMMAND"),
        (["run", "--help"], "usage: kloc run"),
        (["help", "status"], "usage: kloc status"),
        (["--version"], "kloc 0"),
        (["--cache", "none", "tune", "-h"], "usage: kloc tune"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_help_makes_no_environment(argv: list[str], begin: str, path: Path, tmp_path: Path) -> None:
    (path / "python3").symlink_to(sys.executable)
    done = start(path, *argv)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(begin)
    assert not (path / ".cache").exists()


def test_word_of_a_program_asks_for_no_help(path: Path) -> None:
    assert start(path, "run", "--", "prog", "--help").returncode == 1


@pytest.mark.parametrize("home", [None, ""])
@pytest.mark.parametrize("argv", [["--cache", "CACHE"], ["--cache=CACHE"], []], ids=len)
def test_home_need_not_be_set(
    home: str | None, argv: list[str], path: Path, tmp_path: Path
) -> None:
    """Without Python the script ends after it has found the cache directory."""
    (path / "getent").write_text(f"#!/bin/sh\necho user:x:1:1::{tmp_path}/home:/bin/sh\n")
    (path / "getent").chmod(0o755)
    cache = tmp_path / "cache"
    done = subprocess.run(
        ["/bin/sh", PROJECT / "kloc", *(word.replace("CACHE", str(cache)) for word in argv), "top"],
        env={"PATH": str(path)} | ({} if home is None else {"HOME": home}),
        capture_output=True,
        text=True,
    )
    assert "Python 3.11" in done.stderr
    assert "HOME" not in done.stderr
    assert ((cache if argv else tmp_path / "home/.cache/kloc") / "python").is_dir()


def test_user_without_a_home_is_told_to_choose_a_directory(path: Path) -> None:
    (path / "getent").symlink_to("/bin/true")
    env = {"PATH": str(path)}
    argv = ["/bin/sh", PROJECT / "kloc", "doctor"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "--cache DIR" in done.stderr


def test_full_disk_is_named(path: Path) -> None:
    (path / "python3").write_text(
        '#!/bin/sh\n[ "$1" = -c ] || { echo "[Errno 28] No space left on device"; exit 1; }\n'
    )
    (path / "python3").chmod(0o755)
    (path / "df").symlink_to(shutil.which("df") or pytest.fail("df"))
    done = start(path, "doctor")
    assert done.returncode == 1
    assert "kloc: no space left on /" in done.stderr
