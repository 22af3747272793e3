# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

from pathlib import Path

from kloc.base import cache
from kloc.build.root import Root

DATA_UUID = "6b6c6f63-0000-4000-8000-000000000001"


def data_image(root: Root, size: int) -> Path:
    """Return an empty ext4 file system of `size` bytes for /data, made once."""

    def make(folder: Path) -> None:
        image = folder / "data.img"
        with image.open("wb") as file:
            file.truncate(1 << (size - 1).bit_length())
        # A fixed identity and no lazy work: each would differ from run to run.
        options = f"hash_seed={DATA_UUID},lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        root.run(
            [
                "mke2fs",
                "-q",
                "-F",
                "-t",
                "ext4",
                "-U",
                DATA_UUID,
                "-E",
                options,
                str(image),
                f"{size >> 10}k",
            ],
            binds=[folder],
            env={"SOURCE_DATE_EPOCH": "1704067200", "E2FSPROGS_FAKE_TIME": "1704067200"},
        )

    return (
        cache.build("data", cache.key("data-1", str(size), root.versions()["e2fsprogs"]), make)
        / "data.img"
    )
