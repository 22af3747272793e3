# SPDX-License-Identifier: GPL-2.0
"""The files of a job are at the paths where the guest's agent and programs look for them."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from kloc.base.daemon import Daemon
from kloc.base.errors import KlocError
from kloc.machine import job_image, profile
from kloc.machine.job import BOUND_INTERVAL_US, MEMORY_INTERVAL_US, Damon, Job, Swap, Terminal
from kloc.machine.parts import Parts

OURS = SimpleNamespace(initramfs=None)
NO_PROGRAMS = cast(Parts, SimpleNamespace(programs=(), kernel=OURS))
PERIODS = """\
/proc/sys/vm/dirty_expire_centisecs 70
/proc/sys/vm/dirty_writeback_centisecs 12
/proc/sys/vm/dirtytime_expire_seconds 1012
/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan 96
/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs 234
/sys/kernel/mm/transparent_hugepage/khugepaged/alloc_sleep_millisecs 1405
"""


@pytest.fixture
def image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The path of an image. It will be a tar archive, which mke2fs would make the image from."""
    monkeypatch.setattr(job_image.root, "tool_root", lambda: None)
    monkeypatch.setattr(job_image, "make_ext4", lambda _, tar, target: shutil.copy(tar, target))
    (tmp_path / "run").mkdir()
    return tmp_path / "run" / "job.img"


def content(image: Path) -> dict[str, str]:
    """Return the text of each file in the image, by path."""
    with tarfile.open(image) as archive:
        return {
            f"/{member.name}": file.read().decode()
            for member in archive
            if (file := archive.extractfile(member))
        }


def test_agent_finds_scripts_and_settings(image: Path, make_job: Callable[..., Job]) -> None:
    job = make_job(scripts={"setup": "true\n", "measured": "ls\n"}, settings={"/a": "1", "/b": "x"})
    job_image.write_job_image(job, NO_PROGRAMS, image)
    assert content(image) == {
        "/kloc/job/mode": "measure",
        "/kloc/job/cores": "4\n",
        "/kloc/job/slices": "6\n",
        "/kloc/job/periods": PERIODS,
        "/kloc/job/commit": "1\n",
        "/kloc/job/settings": "/a 1\n/b x\n",
        "/kloc/job/setup": "true\n",
        "/kloc/job/measured": "ls\n",
    }


@pytest.mark.parametrize("first", ["setup", "prepare"])
def test_spare_cores_of_each_socket_are_left_out(
    first: str, image: Path, make_job: Callable[..., Job]
) -> None:
    four = profile.read("four-node")
    job_image.write_job_image(make_job(profile=four, scripts={first: "true\n"}), NO_PROGRAMS, image)
    found = content(image)
    # The agent gives the job the CPUs below 5, and programs that watch it run from there on.
    assert found["/kloc/job/cores"] == "5\n"
    mask = "echo 0,1,3,4 >/sys/fs/cgroup/job/cpuset.cpus\n"
    assert found[f"/kloc/job/{first}"] == mask + "true\n"


def test_a_job_without_setup_gets_one_for_the_cores(
    image: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    four = profile.read("four-node")
    (tmp_path / "spareless").mkdir()
    spareless = tmp_path / "spareless" / image.name
    job_image.write_job_image(make_job(profile=four), NO_PROGRAMS, image)
    job_image.write_job_image(
        make_job(profile=replace(four, spare_cores=0)), NO_PROGRAMS, spareless
    )
    assert "0,1,3,4" in content(image)["/kloc/job/setup"]
    assert "/kloc/job/setup" not in content(spareless)
    assert content(spareless)["/kloc/job/cores"] == "4\n"


def test_a_daemon_is_started_looked_after_and_stopped_by_the_scripts(
    image: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    program = tmp_path / "watch.sh"
    program.write_text("watches")
    one = Daemon("watch.sh\n", files=(program,), stop="end\n", needs=("/sys/a", "/sys/b"))
    scripts = {"setup": "load\n", "measured": "ls\n"}
    job_image.write_job_image(make_job(scripts=scripts, daemon=one), NO_PROGRAMS, image)
    found = content(image)
    assert found["/kloc/job/setup"] == "/kloc/daemon start\nload\n"
    assert found["/kloc/job/start"] == "/kloc/daemon alive\n"
    # Nothing but the workload is measured.
    assert found["/kloc/job/measured"] == "ls\n"
    assert found["/kloc/job/check"] == "/kloc/daemon stop\n"
    assert found["/kloc/job/daemon.start"] == "watch.sh\n"
    assert found["/kloc/job/daemon.stop"] == "end\n"
    assert "/kloc/job/daemon.ready" not in found
    assert found["/kloc/job/daemon.needs"] == "/sys/a\n/sys/b\n"
    assert found["/kloc/job/daemon.settings"] == (
        "export KLOC_SCALE=42.7 KLOC_FAST_NODES=0 KLOC_SLOW_NODES=1\n"
        "cpus=4\nready_ms=10000\nstop_ms=10000\n"
    )
    assert found["/usr/local/bin/watch.sh"] == "watches"
    # In the PATH before the program that tells the timing model of the region.
    assert "/usr/local/bin/kloc-mark" in found["/usr/local/sbin/kloc-mark"]
    assert "/kloc/daemon" in found


def test_a_daemon_has_the_spare_cores_of_each_socket_or_none(
    image: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    four = profile.read("four-node")
    job_image.write_job_image(make_job(profile=four, daemon=Daemon("x\n")), NO_PROGRAMS, image)
    found = content(image)
    mask = "echo 0,1,3,4 >/sys/fs/cgroup/job/cpuset.cpus\n"
    assert found["/kloc/job/setup"] == mask + "/kloc/daemon start\n"
    settings = found["/kloc/job/daemon.settings"]
    assert "cpus=2,5\n" in settings
    assert "KLOC_FAST_NODES='0 1' KLOC_SLOW_NODES='2 3'" in settings
    spareless = tmp_path / "spareless" / image.name
    spareless.parent.mkdir()
    job = make_job(profile=replace(four, spare_cores=0), daemon=Daemon("x\n"))
    job_image.write_job_image(job, NO_PROGRAMS, spareless)
    assert "cpus=\n" in content(spareless)["/kloc/job/daemon.settings"]


def test_shell_gets_the_terminal(image: Path, make_job: Callable[..., Job]) -> None:
    job = make_job(shell=True, terminal=Terminal("xterm-256color", 50, 132))
    job_image.write_job_image(job, NO_PROGRAMS, image)
    assert content(image)["/kloc/job/terminal"] == "xterm-256color 50 132\n"


@pytest.mark.parametrize(
    "changes", [{"modelled": False}, {"shell": True}, {"scripts": {"prepare": "true\n"}}]
)
def test_every_mode_has_the_same_periods(
    changes: dict[str, Any], image: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    (tmp_path / "measured").mkdir()
    measured = tmp_path / "measured" / image.name
    job_image.write_job_image(make_job(), NO_PROGRAMS, measured)
    job_image.write_job_image(make_job(**changes), NO_PROGRAMS, image)
    for name in ("/kloc/job/periods", "/kloc/job/commit"):
        assert content(image)[name] == content(measured)[name]


@pytest.mark.parametrize(
    ("changes", "mode"),
    [
        ({}, "measure"),
        ({"modelled": False}, "check"),
        ({"shell": True}, "shell"),
        ({"scripts": {"prepare": "true\n"}}, "prepare"),
    ],
)
def test_mode_follows_from_the_job(
    changes: dict[str, Any], mode: str, image: Path, make_job: Callable[..., Job]
) -> None:
    job_image.write_job_image(make_job(**changes), NO_PROGRAMS, image)
    assert content(image)["/kloc/job/mode"] == mode


def test_the_agent_knows_a_kernel_that_was_not_built_for_the_machine(
    image: Path, make_job: Callable[..., Job]
) -> None:
    foreign = SimpleNamespace(programs=(), kernel=SimpleNamespace(initramfs=Path("/initramfs")))
    job_image.write_job_image(make_job(), cast(Parts, foreign), image)
    assert "/kloc/job/foreign" in content(image)


def test_copies_programs_and_commands_are_in_the_image(
    image: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    copy, program = tmp_path / "data", tmp_path / "prog"
    copy.write_text("copied")
    program.write_text("built")
    parts = cast(Parts, SimpleNamespace(programs=(program,), kernel=OURS))
    job_image.write_job_image(make_job(copies=(copy,), commands=True), parts, image)
    files = content(image)
    assert files[str(copy)] == "copied"
    assert files["/usr/local/bin/prog"] == "built"
    assert "/usr/local/bin/kloc" in files and "/kloc/src/kloc/cli.py" in files


def test_members_do_not_depend_on_the_host(image: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    file.chmod(0o640)
    job_image.pack({"/tmp/a/file": file}, image)
    with tarfile.open(image) as archive:
        members = {member.name: (member.mode, member.uid, member.uname) for member in archive}
        (mtime,) = {member.mtime for member in archive}
    assert members == {
        "tmp": (0o1777, 0, "root"),
        "tmp/a": (0o755, 0, "root"),
        "tmp/a/file": (0o644, 0, "root"),
    }
    assert mtime < file.stat().st_mtime


def test_an_image_is_the_same_whatever_umask_path_and_time_the_host_has(
    image: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    job = make_job(scripts={"setup": "true\n"}, settings={"/a": "1"}, commands=True)
    images = []
    for path, umask in (("here", 0o022), ("elsewhere/longer", 0o077)):
        directory = tmp_path / path
        before = os.umask(umask)
        directory.mkdir(parents=True)
        program = directory / "prog"
        program.write_text("built")
        program.chmod(0o777 & ~umask)
        os.utime(program, (umask, umask))
        parts = cast(Parts, SimpleNamespace(programs=(program,), kernel=OURS))
        job_image.write_job_image(job, parts, directory / image.name)
        os.umask(before)
        images.append((directory / image.name).read_bytes())
    assert images[0] == images[1]


def test_copies_are_the_same_whatever_umask_and_time_the_host_has(
    image: Path, tmp_path: Path
) -> None:
    images = []
    for number, umask in enumerate((0o022, 0o077)):
        directory = tmp_path / str(number)
        names = ("b", "a") if number else ("a", "b")
        before = os.umask(umask)
        (directory / "inner").mkdir(parents=True)
        for name in names:
            (directory / "inner" / name).write_text(name)
            os.utime(directory / "inner" / name, (number, number))
        os.umask(before)
        job_image.pack({"/copied": directory}, image)
        images.append(image.read_bytes())
    assert images[0] == images[1]


def test_links_in_directories_stay_links(image: Path, tmp_path: Path) -> None:
    directory = tmp_path / "directory"
    directory.mkdir()
    (directory / "link").symlink_to("target")
    (tmp_path / "by-name").symlink_to("directory")
    job_image.pack({"/d": tmp_path / "by-name"}, image)
    with tarfile.open(image) as archive:
        assert archive.getmember("d").isdir()
        assert archive.getmember("d/link").linkname == "target"


def test_missing_file_is_an_error(image: Path, tmp_path: Path) -> None:
    with pytest.raises(KlocError) as missing:
        job_image.pack({"/a": tmp_path / "a"}, image)
    assert str(tmp_path / "a") in missing.value.message
    assert "--copy" in (missing.value.hint or "")


def test_agent_finds_swap_damon_and_what_watches_them(
    image: Path, make_job: Callable[..., Job], tmp_path: Path
) -> None:
    (tmp_path / "kloc-memory").write_text("program")
    parts = SimpleNamespace(programs=(), watchers=(tmp_path / "kloc-memory",), kernel=OURS)
    damon = Damon((("/sys/a", "1"), ("/sys/b", "2")), "processes", 700)
    job = make_job(swap=Swap("zram", 4096), damon=damon)
    job_image.write_job_image(job, cast(Parts, parts), image)
    found = content(image)
    assert found["/kloc/job/swap"] == "zram 4096\n"
    assert found["/kloc/job/damon"] == "/sys/a 1\n/sys/b 2\n"
    assert found["/kloc/job/target"] == "processes 700 all\n"
    assert found["/kloc/job/memory"] == f"{MEMORY_INTERVAL_US}\n"
    assert found["/usr/local/bin/kloc-memory"] == "program"


def test_a_job_has_only_the_watchers_that_it_needs(
    image: Path, make_job: Callable[..., Job], tmp_path: Path
) -> None:
    names = ("kloc-memory", "kloc-damon", "kloc-bound")
    for name in names:
        (tmp_path / name).write_text("program")
    watchers = tuple(tmp_path / name for name in names)
    parts = SimpleNamespace(programs=(), watchers=watchers, kernel=OURS)
    job_image.write_job_image(make_job(bounded=True), cast(Parts, parts), image)
    found = content(image)
    assert found["/kloc/job/bound"] == f"{BOUND_INTERVAL_US}\n"
    assert "/kloc/job/memory" not in found
    assert {name for name in names if f"/usr/local/bin/{name}" in found} == {"kloc-bound"}
