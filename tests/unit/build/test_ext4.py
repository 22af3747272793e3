# SPDX-License-Identifier: GPL-2.0
"""The arguments and environment of mke2fs, on which the bytes of images depend."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from kloc.build import data_image, ext4
from kloc.build.root import Root

ARGUMENTS = ["mke2fs", "-q", "-F", "-t", "ext4"]
EPOCH = "1704067200"


class RecordingRoot:
    """Records what would run in a root."""

    def __init__(self) -> None:
        self.argv: Sequence[str] = ()
        self.binds: Sequence[Any] = ()
        self.env: Mapping[str, str] = {}

    def run(self, argv: Sequence[str], *, binds: Sequence[Any], env: Mapping[str, str]) -> str:
        self.argv, self.binds, self.env = argv, binds, env
        return ""

    def versions(self) -> dict[str, str]:
        return {"e2fsprogs": "1.47"}


@pytest.fixture
def tools() -> RecordingRoot:
    return RecordingRoot()


def test_image_of_files_has_fixed_identity_and_time(tools: RecordingRoot, tmp_path: Path) -> None:
    tar, image = tmp_path / "root.tar", tmp_path / "root.img"
    tarfile.open(tar, "w").close()
    ext4.make_ext4(cast(Root, tools), tar, image)
    uuid = "00000000-0000-0000-0000-00006b6c6f63"
    assert tools.argv == [
        *ARGUMENTS,
        *("-d", str(tar), "-b", "4096", "-m", "0"),
        *("-O", "^has_journal,^resize_inode", "-U", uuid),
        *("-E", f"hash_seed={uuid},lazy_itable_init=0,root_owner=0:0", str(image)),
    ]
    assert tools.env == {"SOURCE_DATE_EPOCH": EPOCH}
    assert tools.binds == [tmp_path]


@pytest.mark.parametrize(
    ("content_mib", "image_mib"), [(0, 16), (10, 16), (16, 32), (57, 64), (60, 128)]
)
def test_image_is_a_power_of_two_with_a_tenth_to_spare(
    tools: RecordingRoot, tmp_path: Path, content_mib: int, image_mib: int
) -> None:
    member = tarfile.TarInfo("content")
    member.size = content_mib << 20
    with (tmp_path / "root.tar").open("wb") as tar:
        # Sparse: a header, and zeros up to the end of the archive.
        tar.write(member.tobuf())
        tar.truncate(tar.tell() + member.size + 2 * tarfile.BLOCKSIZE)
    ext4.make_ext4(cast(Root, tools), tmp_path / "root.tar", tmp_path / "root.img")
    assert (tmp_path / "root.img").stat().st_size == image_mib << 20


def test_empty_image_has_fixed_identity_and_times(tools: RecordingRoot, empty_cache: Path) -> None:
    image = data_image.data_image(cast(Root, tools), 700 << 20)
    assert image.stat().st_size == 1 << 30
    uuid = "6b6c6f63-0000-4000-8000-000000000001"
    # Made in the directory of a draft, which is renamed when it is complete.
    draft = image.parent.with_name(image.parent.name + ".draft")
    assert tools.argv == [
        *ARGUMENTS,
        *("-U", uuid),
        *("-E", f"hash_seed={uuid},lazy_itable_init=0,lazy_journal_init=0,nodiscard"),
        *(str(draft / "data.img"), "716800k"),
    ]
    assert tools.env == {"SOURCE_DATE_EPOCH": EPOCH, "E2FSPROGS_FAKE_TIME": EPOCH}
    assert tools.binds == [draft]


def test_only_one_module_runs_mke2fs() -> None:
    source = Path(ext4.__file__).parents[1]
    users = [path.name for path in source.rglob("*.py") if '"mke2fs"' in path.read_text()]
    assert users == ["ext4.py"]
