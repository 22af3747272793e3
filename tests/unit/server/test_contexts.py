# SPDX-License-Identifier: GPL-2.0
"""Contexts of the running kernel, read from made-up files."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from kloc.base.errors import KlocError
from kloc.server import contexts, system, tiering
from kloc.server.contexts import Context, Mount
from support import made_up_kernel


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root directory of a made-up kernel."""
    monkeypatch.setattr(system, "ROOT", made_up_kernel.make(tmp_path))
    return tmp_path


def context(number: int) -> Context:
    (found,) = [context for context in contexts.read_contexts() if context.id == number]
    return found


def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


@pytest.mark.parametrize(
    ("policy", "kernel_says", "expected"),
    [("kloc", "1", True), ("mine", "1", True), ("none", "0", False)],
)
def test_the_kernel_says_whether_contexts_exist(
    root: Path, policy: str, kernel_says: str, expected: bool
) -> None:
    (root / tiering.POLICY).write_text(f"{policy}\n")
    (root / contexts.HAS_CONTEXTS).write_text(f"{kernel_says}\n")
    assert contexts.exist() is expected
    assert policy in contexts.missing()


def test_scope_and_kinds_are_settings(root: Path) -> None:
    assert (contexts.scope(), contexts.kinds()) == (contexts.ALL, ["file", "blockdev", "slab"])
    (root / contexts.SETTINGS / "scope").unlink()
    assert contexts.scope() == contexts.ALL
    assert contexts.read_figure("knodes") == 8
    assert contexts.read_figure("a_later_one") == 0


def test_limits_of_nodes_are_ordered_by_number(root: Path) -> None:
    for number in (10, 2):
        directory = root / contexts.LIMITS / f"node{number}"
        directory.mkdir()
        (directory / "max_kb").write_text(f"{number}\n")
    assert list(contexts.read_node_limits().items()) == [
        ("node0", contexts.NO_LIMIT),
        ("node2", "2"),
        ("node10", "10"),
    ]


def test_cgroups_with_a_limit_or_chosen_are_read(root: Path) -> None:
    assert contexts.read_cgroup_limits() == {}
    files = {
        "limited/memory.kloc.max": "4096",
        "limited/memory.kloc.current": "1024",
        "limited/below/memory.kloc.max": contexts.NO_LIMIT,
        "limited/below/memory.kloc.enabled": "1",
    }
    for name, value in files.items():
        path = root / contexts.CGROUPS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    assert contexts.read_cgroup_limits() == {
        "/limited": {"max": "4096", "current": "1024"},
        "/limited/below": {"max": contexts.NO_LIMIT, "enabled": "1"},
    }


def test_contexts_have_the_values_of_their_columns() -> None:
    assert len(list(contexts.read_contexts())) == 8
    assert context(2) == Context(
        id=2,
        kind="file",
        active=True,
        age=0,
        open=True,
        cpu=1,
        fast=512,
        slow=256,
        dev="8:1",
        ino=12,
        path="/var/lib/a b",
    )
    assert not context(3).active
    assert context(4).path is None


def test_columns_of_a_later_kernel_are_ignored(root: Path) -> None:
    path = root / contexts.CONTEXTS
    lines = path.read_text().splitlines()
    path.write_text("".join(f"new\t{line}\n" for line in lines))
    assert context(2).ino == 12


def test_only_root_may_read_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> object:
        raise PermissionError(path)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(KlocError, match=contexts.CONTEXTS) as error:
        list(contexts.read_contexts())
    assert error.value.hint == system.AS_ROOT


def test_root_is_told_to_mount_debugfs(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    (root / contexts.CONTEXTS).unlink()
    as_root(monkeypatch)
    with pytest.raises(KlocError, match=contexts.CONTEXTS) as error:
        list(contexts.read_contexts())
    assert "mount -t debugfs debugfs /sys/kernel/debug" in str(error.value.hint)


def test_a_user_is_told_to_become_root(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    (root / contexts.CONTEXTS).unlink()
    as_user(monkeypatch)
    with pytest.raises(KlocError, match=contexts.CONTEXTS) as error:
        list(contexts.read_contexts())
    assert error.value.hint == system.AS_ROOT


def test_a_kernel_without_contexts_is_named_when_they_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path / "none")
    with pytest.raises(KlocError, match="no policies of memory tiers"):
        list(contexts.read_contexts())


def test_mounts_have_unescaped_paths() -> None:
    assert contexts.read_mounts()[-1] == Mount(
        "8:17", PurePosixPath("/deep"), PurePosixPath("/mnt/with space")
    )


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, "/"),
        (2, "/var/lib/a b"),
        (4, "/dev/sda1"),
        (5, "/mnt/with space/er/file"),
        (6, "0:31:inode 15"),
        (8, "sdc1:/else[where]"),
    ],
)
def test_visible_path_is_below_a_mount_point_or_on_a_named_device(
    number: int, expected: str
) -> None:
    assert contexts.visible_path(context(number), contexts.read_mounts()) == expected


def test_visible_path_prefers_the_complete_file_system_to_a_bind_mount() -> None:
    bound, complete = (
        Mount("8:1", PurePosixPath(inside), PurePosixPath(point))
        for inside, point in (("/var/lib", "/mnt/bound"), ("/", "/mnt/disk"))
    )
    assert contexts.visible_path(context(2), [bound]) == "/mnt/bound/a b"
    assert contexts.visible_path(context(2), [bound, complete]) == "/mnt/disk/var/lib/a b"


def test_a_directory_with_a_similar_name_is_not_mounted() -> None:
    similar = Mount("8:1", PurePosixPath("/var/li"), PurePosixPath("/mnt"))
    assert contexts.visible_path(context(2), [similar]) == "sda1:/var/lib/a b"


def test_a_device_without_a_name_is_its_number() -> None:
    assert contexts.device_name("8:1") == "sda1"
    assert contexts.device_name("9:9") == "9:9"


@pytest.mark.parametrize(
    ("text", "expected"), [(r"a\040b\134c\012", "a b\\c\n"), ("plain", "plain"), (r"\9", r"\9")]
)
def test_octal_escapes_become_characters(text: str, expected: str) -> None:
    assert contexts.unescape(text) == expected
