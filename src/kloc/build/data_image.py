# SPDX-License-Identifier: GPL-2.0
"""Makes the machine's second disk: an empty ext4 file system that the guest mounts on /data."""

from __future__ import annotations

from pathlib import Path

from kloc.base import cache
from kloc.build.ext4 import make_empty_ext4
from kloc.build.root import Root

FORMAT = "data-1"
"""Part of the cache key: change it when images are made differently, so that old ones go unused."""


def data_image(root: Root, size: int) -> Path:
    """Return the image of an empty ext4 file system of `size` bytes, made on first use."""
    key = cache.key(FORMAT, str(size), root.versions()["e2fsprogs"])
    entry = cache.build("data", key, lambda draft: make_empty_ext4(root, draft / "data.img", size))
    return entry / "data.img"
