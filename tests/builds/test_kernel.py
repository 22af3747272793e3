# SPDX-License-Identifier: GPL-2.0
"""The kernel's series: applied to the work tree, converted to a git tree and back, compiled."""

import difflib
import shutil
import tarfile
from pathlib import Path

import pytest

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.build import bootstrap, kernel, kernel_git, kernel_source, pins
from kloc.build.root import Bind, Root
from support import made_up_overlay

PATCH = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A <a@example.org>
Date: Mon, 1 Jan 2024 00:00:00 +0000
Subject: [PATCH] mm: {new}

--- a/mm/old.c
+++ b/mm/old.c
@@ -1,3 +1,3 @@
 one
-two
+{new}
 three
"""


@pytest.fixture
def overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel/ directory with one new file and one patch."""
    patches = {"0001.patch": PATCH.format(new="2")}
    directory = made_up_overlay.overlay(tmp_path, "# a comment\n0001.patch\n", patches)
    monkeypatch.setattr(kernel_source, "KERNEL", directory)
    return directory


@pytest.fixture
def small_linux(tmp_path: Path) -> Path:
    linux = tmp_path / "linux" / "source"
    (linux / "mm").mkdir(parents=True)
    (linux / "mm" / "old.c").write_text("one\ntwo\nthree\n")
    (linux / "mm" / "other.c").write_text("other\n")
    return linux


def test_work_tree_follows_the_series(tools: Root, overlay: Path, small_linux: Path) -> None:
    tree = kernel_source.WorkTree(tools, small_linux)
    tree.update()
    old, new = tree.source / "mm" / "old.c", tree.source / "mm" / "new.c"
    assert (old.read_text(), new.read_text()) == ("one\n2\nthree\n", "new\n")
    assert (small_linux / "mm" / "old.c").read_text() == "one\ntwo\nthree\n"

    written = new.stat().st_mtime_ns
    (overlay / "patches" / "0001.patch").write_text(PATCH.format(new="II"))
    kernel_source.WorkTree(tools, small_linux).update()
    assert old.read_text() == "one\nII\nthree\n"
    assert new.stat().st_mtime_ns == written

    (overlay / "patches" / "series").write_text("")
    (overlay / "files" / "mm" / "new.c").unlink()
    kernel_source.WorkTree(tools, small_linux).update()
    assert old.read_text() == "one\ntwo\nthree\n"
    assert old.stat().st_mtime_ns > written
    assert not new.exists()


def test_patch_that_does_not_apply_is_an_error(
    tools: Root, overlay: Path, small_linux: Path
) -> None:
    (small_linux / "mm" / "old.c").write_text("something else\n")
    with pytest.raises(KlocError, match=r"0001\.patch does not apply"):
        kernel_source.WorkTree(tools, small_linux).update()


def contents(directory: Path) -> dict[str, str]:
    names = kernel_source.relative_files(directory)
    return {str(name): (directory / name).read_text() for name in names}


def assert_same(before: dict[str, str], after: dict[str, str]) -> None:
    """Fail with the differences between two results of `contents`."""
    assert before.keys() == after.keys()
    for name in before:
        changes = difflib.unified_diff(before[name].splitlines(), after[name].splitlines())
        assert before[name] == after[name], "\n".join([name, *changes])


@pytest.fixture
def overlay_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of kernel/, which is in use during the test."""
    overlay = tmp_path / "kernel"
    shutil.copytree(kernel_source.KERNEL, overlay)
    monkeypatch.setattr(kernel_source, "KERNEL", overlay)
    return overlay


@pytest.fixture
def moved_linux(
    linux: Path, tools: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> Path:
    """The patched files of Linux, each of another hash and every hunk at another line.

    And .gitignore as it is.
    """
    (empty_cache / "root").symlink_to(tools.path.parents[1])
    moved = tmp_path / ("0" * 20) / "source"
    for name in kernel_source.patched_files():
        if (linux / name).exists():
            (moved / name).parent.mkdir(parents=True, exist_ok=True)
            (moved / name).write_text("\n" + (linux / name).read_text())
    shutil.copy(linux / ".gitignore", moved)
    monkeypatch.setattr(kernel_source, "unpatched_source", lambda: moved)
    return moved


@pytest.mark.soak
def test_checkout_and_export_of_all_of_linux_change_nothing(
    tools: Root, tmp_path: Path, overlay_copy: Path
) -> None:
    before = contents(overlay_copy)
    kernel_git.checkout(tmp_path / "tree")
    kernel_git.export(tmp_path / "tree")
    assert_same(before, contents(overlay_copy))


@pytest.mark.usefixtures("moved_linux")
def test_series_applies_to_another_source_and_is_exported_unchanged(
    tools: Root, tmp_path: Path, overlay_copy: Path
) -> None:
    """Without commits, export leaves the series as it is; with one, it writes that change."""
    before = contents(overlay_copy)
    assert not any("\nindex " in text for name, text in before.items() if "patches/" in name)
    tree = tmp_path / "tree"
    kernel_git.checkout(tree)
    kernel_git.export(tree)
    assert_same(before, contents(overlay_copy))

    (tree / "mm" / "kloc_new.c").write_text("/* new */\n")
    with (tree / "mm" / "vmscan.c").open("a") as vmscan:
        vmscan.write("/* the end */\n")
    binds = [Bind(tree, kernel_git.TREE)]
    with pytest.raises(KlocError, match="not committed"):
        kernel_git.export(tree)
    for command in (["add", "--all"], ["commit", "--message=mm: a change"]):
        tools.run(["git", *command], binds=binds, cwd=kernel_git.TREE, env=kernel_git.IDENTITY)
    kernel_git.export(tree)
    assert (overlay_copy / "files" / "mm" / "kloc_new.c").read_text() == "/* new */\n"
    last = kernel_source.patches()[-1]
    assert last.name.endswith("-mm-a-change.patch")
    assert "kloc_new.c" not in last.read_text()
    assert "vmscan.c" in last.read_text()


def test_export_of_a_tree_without_the_tag_is_an_error(tools: Root, tmp_path: Path) -> None:
    binds = [Bind(tmp_path, kernel_git.TREE)]
    tools.run(["git", "init"], binds=binds, cwd=kernel_git.TREE, env=kernel_git.IDENTITY)
    with pytest.raises(KlocError, match="no tag 'linux'"):
        kernel_git.export(tmp_path)


@pytest.mark.usefixtures("machine_kernel")
def test_kernel_files_compile_without_warnings() -> None:
    assert kernel.warnings() == []


@pytest.mark.soak
def test_second_build_is_the_same_to_the_byte(
    machine_kernel: kernel.Kernel, empty_cache: Path, tools: Root
) -> None:
    """A build from an empty cache elsewhere, without ccache, gives the same kernel."""
    (empty_cache / "root").symlink_to(tools.path.parents[1])
    again = kernel.build()
    assert again.bzimage != machine_kernel.bzimage
    assert again.bzimage.read_bytes() == machine_kernel.bzimage.read_bytes()
    assert again.vmlinux.read_bytes() == machine_kernel.vmlinux.read_bytes()


DOWNLOADS = Path("sources")
"""The directory of a fetched root with the packages of kernel sources."""

DOWNLOAD = """\
versions=$(apt-cache madison linux-source-6.12 | cut -d '|' -f 2 | sort -u) &&
for version in $versions; do
    ! dpkg --compare-versions $version ge {pinned} ||
        apt-get --quiet download linux-source-6.12=$version || exit
done
"""
"""Downloads every version that apt offers, from the pinned one on."""


@pytest.mark.soak
def test_series_applies_to_the_kernel_sources_of_debian(tools: Root, tmp_path: Path) -> None:
    """Patches are of the pinned version, and older ones need not have what they change."""
    tar, command = tmp_path / "root.tar", DOWNLOAD.format(pinned=pins.read()["linux-source-6.12"])
    bootstrap.bootstrap(
        "a root with all kernel sources of Debian",
        (),
        tar,
        seconds=60,
        variant="custom",
        hook=bootstrap.fetch_hook(command, DOWNLOADS),
    )
    with tarfile.open(tar) as tree:
        names = [name for name in tree.getnames() if name.endswith(".deb")]
        tree.extractall(tmp_path, [tree.getmember(name) for name in names])
    tar.unlink()
    assert names
    for name in names:
        apply_to(tools, tmp_path / name, tmp_path / "version")


def apply_to(tools: Root, package: Path, directory: Path) -> None:
    """Apply the series to the kernel source in a package; `directory` is used and removed."""
    directory.mkdir()
    inside, mounted = Path("/source.deb"), Path("/build")
    tools.run(
        ["dpkg-deb", "--extract", str(inside), str(mounted)],
        binds=[Bind(package, inside), Bind(directory, mounted)],
    )
    kernel_source.unpack(directory / kernel_source.ARCHIVE, directory)
    (directory / "changed").mkdir()
    try:
        kernel_source.apply_series(tools, directory / "source", directory / "changed")
    except KlocError as error:
        pytest.fail(f"{package.name}: {error.message}")
    cache.remove(directory)
