# SPDX-License-Identifier: GPL-2.0
"""What is refused before git runs."""

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import kernel_git


def test_checkout_does_not_overwrite_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KlocError, match="already exists"):
        kernel_git.checkout(tmp_path)


def test_export_of_a_directory_without_git_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="not a git tree"):
        kernel_git.export(tmp_path)
