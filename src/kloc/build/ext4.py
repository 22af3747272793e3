# SPDX-License-Identifier: GPL-2.0
"""Makes ext4 images with the tool root's mke2fs: the only module that runs it.

Images are the same to the byte on every host, so everything that mke2fs would choose at random or
take from the clock is set: UUIDs, hash seeds and times.
"""

import tarfile
import uuid
from collections.abc import Sequence
from pathlib import Path

from kloc.build import bootstrap
from kloc.build.root import Root

UUID = str(uuid.UUID(int=0x6B6C6F63))
"""UUID and directory hash seed of every image made from files."""

EMPTY_UUID = "6b6c6f63-0000-4000-8000-000000000001"
"""UUID and directory hash seed of every empty image."""

BLOCK_BYTES = 4096


def make_ext4(tools: Root, tar: Path, image: Path) -> None:
    """Make `image` an ext4 file system, without a journal, with the files in `tar`.

    Both are in the same directory.
    """
    _truncate(image, _image_bytes(tar))
    options = [
        *("-d", str(tar), "-b", str(BLOCK_BYTES), "-m", "0"),
        *("-O", "^has_journal,^resize_inode", "-U", UUID),
        *("-E", f"hash_seed={UUID},lazy_itable_init=0,root_owner=0:0"),
    ]
    _mke2fs(tools, options, image, env={"SOURCE_DATE_EPOCH": str(bootstrap.EPOCH)})


def make_empty_ext4(tools: Root, image: Path, size: int) -> None:
    """Make `image` an empty ext4 file system of `size` bytes, in a file of a power of two bytes."""
    _truncate(image, 1 << (size - 1).bit_length())
    # Lazy initialization would run during the workload, at a time that differs between runs.
    extended = f"hash_seed={EMPTY_UUID},lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    epoch = str(bootstrap.EPOCH)
    _mke2fs(
        tools,
        ["-U", EMPTY_UUID, "-E", extended],
        image,
        f"{size >> 10}k",
        env={"SOURCE_DATE_EPOCH": epoch, "E2FSPROGS_FAKE_TIME": epoch},
    )


def _mke2fs(
    tools: Root, options: Sequence[str], image: Path, *size: str, env: dict[str, str]
) -> None:
    tools.run(
        ["mke2fs", "-q", "-F", "-t", "ext4", *options, str(image), *size],
        binds=[image.parent],
        env=env,
    )


def _truncate(image: Path, size: int) -> None:
    with image.open("wb") as file:
        file.truncate(size)


def _image_bytes(tar: Path) -> int:
    """Return a size that holds the files in `tar` and 10 % more: a power of two, at least 16 MiB.

    The memory of a QEMU device has to be a power of two bytes.
    """
    content = 0
    with tarfile.open(tar) as tree:
        for member in tree:
            content += BLOCK_BYTES + -(-member.size // BLOCK_BYTES) * BLOCK_BYTES
    return 1 << max(24, int(content * 1.1).bit_length())
