# SPDX-License-Identifier: GPL-2.0
"""Kernels that this project did not build: what is a kernel, and what an entry of it has."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.build import foreign_kernel, initramfs
from kloc.build.root import Bind

RELEASE = "6.12.1-cloud-amd64"


def bzimage(flags: int = 1) -> bytes:
    """Return the header of a kernel, with its release at an offset."""
    content = bytearray(0x400)
    struct.pack_into("<4s", content, 0x202, b"HdrS")
    struct.pack_into("<H", content, 0x20E, 0x100)
    struct.pack_into("<H", content, 0x236, flags)
    text = f"{RELEASE} (builder@example) #1 SMP".encode()
    content[0x300 : 0x300 + len(text)] = text
    return bytes(content)


class FakeTools:
    """A root whose dpkg-deb "unpacks" a kernel with these modules."""

    def __init__(self, modules: Sequence[str], image: bool = True) -> None:
        """Choose what a package has."""
        self.modules, self.image = modules, image

    def run(self, argv: Sequence[str], binds: Sequence[Bind], **_: Any) -> str:
        """Write what `dpkg-deb --extract` would, or return what `--show` prints."""
        if argv[1] == "--show":
            return f"linux-image-{RELEASE} 6.12.1-1"
        (draft,) = [bind.source for bind in binds if str(bind.target) == "/build"]
        tree = draft / "tree"
        directory = tree / "usr/lib/modules" / RELEASE
        directory.mkdir(parents=True)
        (tree / "boot").mkdir()
        if self.image:
            (tree / "boot" / f"vmlinuz-{RELEASE}").write_bytes(bzimage())
        for name in self.modules:
            (directory / f"{name}.ko").write_bytes(b"\0depends=\0")
        return ""


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Path]:
    """The files of the last initramfs that would have been made, by their paths in it."""
    files: dict[str, Path] = {}

    def write(given: dict[str, Path], _: object, image: Path) -> None:
        files.update({name: Path(path.name) for name, path in given.items()})
        image.write_text("initramfs")

    monkeypatch.setenv("KLOC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(initramfs, "write", write)
    monkeypatch.setattr(initramfs.programs, "build", lambda source: source)
    return files


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("./missing.deb", "./missing.deb is not a file"),
        ("/boot/none", "/boot/none is not a file"),
        ("Linux Image", "'Linux Image' is not a kernel"),
        ("bash", "'bash' is not a kernel"),
        ("/bin/ls", "/bin/ls is not a bzImage"),
    ],
)
def test_what_is_neither_a_file_nor_a_package_is_refused(name: str, words: str) -> None:
    with pytest.raises(KlocError) as error:
        foreign_kernel.check(name)
    assert words in error.value.message
    assert "bzImage" in (error.value.hint or "")


def test_a_deb_file_that_is_no_package_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "kernel.deb"
    file.write_bytes(b"#!/bin/sh")
    with pytest.raises(KlocError, match="is no package"):
        foreign_kernel.check(str(file))
    file.write_bytes(foreign_kernel.DEB_MAGIC + b"debian-binary")
    foreign_kernel.check(str(file))


def test_only_the_beginning_of_a_kernel_is_read(tmp_path: Path) -> None:
    file = tmp_path / "bzImage"
    with file.open("wb") as sparse:
        sparse.write(bzimage())
        sparse.truncate(1 << 40)
    assert foreign_kernel.release_of(file) == RELEASE


def test_a_file_that_is_no_kernel_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content in (b"", b"text" * 1000):
        file.write_bytes(content)
        with pytest.raises(KlocError, match="is not a bzImage"):
            foreign_kernel.prepare(str(file))


def test_a_32_bit_kernel_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bzImage"
    file.write_bytes(bzimage(flags=0))
    with pytest.raises(KlocError, match="32-bit"):
        foreign_kernel.release_of(file)


def test_a_bzimage_has_an_initramfs_without_modules(
    packed: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "bzImage"
    file.write_bytes(bzimage())
    kernel = foreign_kernel.prepare(str(file))
    assert kernel.release == RELEASE
    assert kernel.bzimage.read_bytes() == file.read_bytes()
    assert set(packed) == {"init"}
    assert set(kernel.described()) == {"release", "image"}


def test_a_package_has_its_modules_and_is_named_in_results(
    packed: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_kernel.root, "tool_root", lambda: FakeTools(initramfs.WANTED))
    deb = tmp_path / "kernel.deb"
    deb.write_bytes(foreign_kernel.DEB_MAGIC)
    kernel = foreign_kernel.prepare(str(deb))
    assert kernel.described() == {
        "release": RELEASE,
        "package": f"linux-image-{RELEASE}",
        "version": "6.12.1-1",
    }
    assert set(packed) == {
        "init",
        "modules/order",
        *(f"modules/{name}" for name in initramfs.WANTED),
    }


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        (FakeTools(("virtio_pci", "virtio_blk")), "the kernel has no ext4"),
        (FakeTools(("ext4", "overlay")), "the kernel has no virtio_pci"),
        (FakeTools((), image=False), "has no kernel"),
    ],
    ids=["no ext4", "no virtio", "no kernel"],
)
def test_a_package_that_the_machine_cannot_boot_is_refused(
    tools: FakeTools,
    words: str,
    packed: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foreign_kernel.root, "tool_root", lambda: tools)
    deb = tmp_path / "kernel.deb"
    deb.write_bytes(foreign_kernel.DEB_MAGIC + words.encode())
    with pytest.raises(KlocError, match=words):
        foreign_kernel.prepare(str(deb))


def test_a_damaged_package_is_named(
    packed: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fails:
        def run(self, *_: object, **__: object) -> str:
            raise KlocError("dpkg-deb failed:\nunexpected end of file")

    monkeypatch.setattr(foreign_kernel.root, "tool_root", Fails)
    deb = tmp_path / "cut.deb"
    deb.write_bytes(foreign_kernel.DEB_MAGIC)
    with pytest.raises(KlocError) as error:
        foreign_kernel.prepare(str(deb))
    assert "cut.deb" in error.value.message and "unexpected end" in error.value.message
    assert "again" in (error.value.hint or "")


def test_a_metapackage_is_fetched_with_the_kernel_that_it_depends_on() -> None:
    hook = foreign_kernel.fetch_hook("linux-image-amd64")
    assert "apt-get --quiet download linux-image-amd64 $(" in hook
    assert "Depends" in hook and "linux-image-" in hook
