# SPDX-License-Identifier: GPL-2.0
"""What is refused before git runs."""

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import kernel_git
from support import made_up_overlay


def test_checkout_does_not_overwrite_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KlocError, match="already exists"):
        kernel_git.checkout(tmp_path)


def test_export_of_a_directory_without_git_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="not a git tree"):
        kernel_git.export(tmp_path)


PATCH = """\
diff --git a/mm/old.c b/mm/old.c
--- a/mm/old.c
+++ b/mm/old.c
@@ -1,3 +1,3 @@ int before(void)
 one
-two
+2
 three
"""


@pytest.fixture
def patches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a series with one patch."""
    overlay = made_up_overlay.overlay(tmp_path, "0001.patch\n", {"0001.patch": PATCH})
    monkeypatch.setattr(kernel_git.kernel_source, "KERNEL", overlay)
    return overlay / "patches"


def exported(tmp_path: Path, text: str) -> Path:
    """Return a directory with what git format-patch wrote: one patch, with hashes."""
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    head, _, rest = text.partition("--- a")
    index = "index 0123456789ab..ba9876543210 100644\n"
    (drafts / "0001.patch").write_text(f"{head}{index}--- a{rest}")
    return drafts


def test_patch_of_another_version_of_the_source_stays(patches: Path, tmp_path: Path) -> None:
    moved = PATCH.replace("@@ -1,3 +1,3 @@ int before(void)", "@@ -41,3 +57,3 @@ int other(void)")
    kernel_git._export_patches(exported(tmp_path, moved))
    assert (patches / "0001.patch").read_text() == PATCH


def test_changed_patch_is_written_without_hashes(patches: Path, tmp_path: Path) -> None:
    changed = PATCH.replace("+2", "+II")
    kernel_git._export_patches(exported(tmp_path, changed))
    assert (patches / "0001.patch").read_text() == changed
    assert (patches / "series").read_text() == "0001.patch\n"
