# SPDX-License-Identifier: GPL-2.0
"""Disk images for the machine: the Debian that it runs, and the files of one job."""

import tarfile
import uuid
from pathlib import Path

from kloc.build import bootstrap
from kloc.build.root import Root

UUID = str(uuid.UUID(int=0x6B6C6F63))
"""Every image's identity, and the seed of its directories' hashes."""

BLOCK_BYTES = 4096


def make_ext4(tools: Root, tar: Path, image: Path) -> None:
    """Make `image` an ext4 file system, without a journal, of what is in `tar`."""
    size = _image_bytes(tar)
    with image.open("wb") as file:
        file.truncate(size)
    tools.run(
        [
            *(
                "mke2fs",
                "-q",
                "-F",
                "-t",
                "ext4",
                "-d",
                str(tar),
                "-b",
                str(BLOCK_BYTES),
                "-m",
                "0",
            ),
            *("-O", "^has_journal,^resize_inode", "-U", UUID),
            *("-E", f"hash_seed={UUID},lazy_itable_init=0,root_owner=0:0", str(image)),
        ],
        binds=[tar.parent],
        env={"SOURCE_DATE_EPOCH": str(bootstrap.EPOCH)},
    )


def _image_bytes(tar: Path) -> int:
    """Return a size with room to spare: a device's memory is a power of two of bytes."""
    content = 0
    with tarfile.open(tar) as tree:
        for member in tree:
            content += BLOCK_BYTES + -(-member.size // BLOCK_BYTES) * BLOCK_BYTES
    return 1 << max(24, int(content * 1.1).bit_length())
