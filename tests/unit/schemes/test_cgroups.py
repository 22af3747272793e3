# SPDX-License-Identifier: GPL-2.0
"""The cgroups of schemes, on made-up files."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.schemes import cgroups, damon, nodes, text
from kloc.schemes.sysfs import Attributes, Physical
from support import fake_damon

V1 = "cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,memory 0 0\n"
V2 = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
HYBRID = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n" + V1


def make(root: Path, mounts: str, *folders: str, controlled: bool = True) -> None:
    """Create cgroups, and the list of mounts."""
    for folder in folders:
        path = root / folder.lstrip("/")
        path.mkdir(parents=True)
        if controlled:
            (path / "memory.stat").touch()
    (root / "proc/self").mkdir(parents=True)
    (root / cgroups.MOUNTS.lstrip("/")).write_text(mounts)


def value(path: str) -> Any:
    """Return the path that DAMON is given for one in a scheme."""
    schemes = text.parse(f"min max min max min max pageout skip anon only memcg={path}", "f")
    (scheme,) = cgroups.resolved(schemes)
    assert scheme.filters[0] == schemes[0].filters[0]
    return scheme.filters[1].value


@pytest.mark.parametrize(
    "path", ["/a/b", "a/b", "/a/b/", "//a/b", "/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a/b/"]
)
def test_paths_are_as_damon_compares_them(path: str, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    make(tmp_path, V2, "/sys/fs/cgroup/a/b")
    assert value(path) == "/a/b"


def test_a_unit_stands_for_its_path(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    slices = [f"/sys/fs/cgroup/{name}.slice" for name in ("system", "user")]
    below = [f"{slices[0]}/my.service", *(f"{one}/twice.service" for one in slices)]
    make(tmp_path, V2, *slices, *below, f"{slices[0]}/user.slice")
    assert value("my.service") == "/system.slice/my.service"
    assert value("user.slice") == "/user.slice"
    with pytest.raises(KlocError, match=r"2 cgroups are called twice\.service: /system\.slice/tw"):
        value("twice.service")
    with pytest.raises(KlocError, match=r"there is no cgroup /none\.service"):
        value("none.service")


def test_the_root_is_a_cgroup(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    make(tmp_path, V2, "/sys/fs/cgroup", controlled=False)
    assert value("/sys/fs/cgroup") == "/" == value("/")


@pytest.mark.parametrize("mounts", [V1, HYBRID])
def test_cgroups_of_the_first_version_are_found(
    mounts: str, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    make(tmp_path, mounts, "/sys/fs/cgroup/memory/a")
    assert value("/a") == "/a" == value("/sys/fs/cgroup/memory/a")


def test_a_cgroup_that_does_not_exist_is_named(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    make(tmp_path, V2, "/sys/fs/cgroup/a", controlled=False)
    schemes = text.parse("min max min max min max pageout only memcg=/nothere", "f")
    with pytest.raises(KlocError, match="there is no cgroup /nothere: /sys/fs/cgroup/nothere"):
        nodes.parts(schemes, Physical(((0, 4096),)))
    with pytest.raises(KlocError, match="cgroup /a has no memory controller") as error:
        value("/a")
    assert error.value.hint == "as root: echo +memory > /sys/fs/cgroup/cgroup.subtree_control"
    (tmp_path / cgroups.MOUNTS.lstrip("/")).write_text("proc /proc proc rw 0 0\n")
    with pytest.raises(KlocError, match="no cgroups are mounted"):
        value("/a")


def test_a_cgroup_that_ends_before_damon_starts_is_named(monkeypatch: Any, tmp_path: Path) -> None:
    fake = fake_damon.install(monkeypatch, tmp_path)
    schemes = text.parse("min max min max min max pageout only memcg=/a", "f")
    fake.refused[damon.STATE] = errno.ENOMEM
    removed = "a cgroup of the scheme, /a, has been removed"
    with pytest.raises(KlocError, match=removed) as error, damon.taken() as taken:
        taken.apply(schemes, Attributes(), Physical(((0, 4096),)))
    assert error.value.hint


def test_processes_are_those_of_a_cgroup_and_of_all_below_it(
    monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    make(tmp_path, V2, "/sys/fs/cgroup/a/b/c", "/sys/fs/cgroup/d")
    for name, pids in (("a", "1\n"), ("a/b", ""), ("a/b/c", "2\n3\n"), ("d", "4\n")):
        (tmp_path / "sys/fs/cgroup" / name / "cgroup.procs").write_text(pids)
    assert cgroups.processes(cgroups.folder("/a")) == [1, 2, 3]
    # A cgroup that was removed has none.
    assert cgroups.processes(tmp_path / "sys/fs/cgroup/e") == []
    with pytest.raises(KlocError, match="there is no cgroup /e"):
        cgroups.folder("e")
