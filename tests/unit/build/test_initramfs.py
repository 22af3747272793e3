# SPDX-License-Identifier: GPL-2.0
"""The modules of an initramfs: their order, their compression, and what is missing."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import initramfs

Make = Callable[..., initramfs.Modules]


def module(*needed: str) -> bytes:
    """Return the content of a module that needs others."""
    return b"\x7fELF\0license=GPL\0depends=" + ",".join(needed).encode() + b"\0name=x\0"


@pytest.fixture
def make_modules(tmp_path: Path) -> Make:
    """A function that makes the modules of a kernel from their files' contents."""

    def make(builtin: str = "", **files: bytes) -> initramfs.Modules:
        (tmp_path / "kernel").mkdir()
        (tmp_path / "modules.builtin").write_text(builtin)
        for name, content in files.items():
            stem, _, suffix = name.partition("__")
            suffix = f".ko.{suffix}" if suffix else ".ko"
            (tmp_path / "kernel" / (stem.replace("_", "-") + suffix)).write_bytes(content)
        return initramfs.Modules(tmp_path)

    return make


def test_modules_are_loaded_after_those_that_they_need(make_modules: Make) -> None:
    found = make_modules(
        builtin="kernel/lib/crc16.ko\n",
        ext4=module("mbcache", "crc16", "jbd2"),
        jbd2=module("crc32c-generic"),
        mbcache=module(),
        crc32c_generic=module(),
    )
    assert found.has("crc16") and found.has("jbd2") and not found.has("xfs")
    assert found.in_order(["jbd2", "ext4"]) == ["crc32c_generic", "jbd2", "mbcache", "ext4"]


def test_a_module_that_the_kernel_lacks_is_an_error_that_says_what_to_do(
    make_modules: Make,
) -> None:
    found = make_modules(virtio_blk=module("virtio"))
    with pytest.raises(KlocError) as error:
        found.in_order(["virtio_blk"])
    assert error.value.message == "the kernel has no virtio, neither built in nor as a module"
    assert "disk" in (error.value.hint or "")


def test_compressed_modules_are_read(make_modules: Make) -> None:
    found = make_modules(a__xz=lzma.compress(b"x"), b__gz=gzip.compress(b"g"), c=b"plain")
    assert [found.read(name) for name in "abc"] == [b"x", b"g", b"plain"]


def test_an_unknown_compression_is_an_error(make_modules: Make) -> None:
    with pytest.raises(KlocError, match=r"a\.ko\.zst"):
        make_modules(a__zst=b"").read("a")


def test_names_of_modules_have_no_dashes() -> None:
    assert initramfs.module_name(Path("kernel/crc32c-intel.ko.xz")) == "crc32c_intel"
