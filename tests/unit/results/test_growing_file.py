# SPDX-License-Identifier: GPL-2.0
"""A file that grows by a run has the same bytes as one that is written at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base import files
from kloc.base.errors import KlocError
from kloc.results.growing_file import GrowingFile
from support import made_up


def test_every_state_of_the_file_is_that_of_the_document(tmp_path: Path) -> None:
    growing = GrowingFile(tmp_path / "growing.json")
    runs = [made_up.run("tpp", 1.0, notes=["ä\n\u2028"], later={}, seed=seed) for seed in (2, 1, 3)]
    for count in (1, 2, 3):
        # Runs are in the order of seeds, and not in that in which they ended.
        content = made_up.document(*sorted(runs[:count], key=lambda run: run["seed"]))
        growing.write(content)
        files.write_json(tmp_path / "whole.json", content)
        assert growing.path.read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    growing = GrowingFile(tmp_path / "none" / "j.json")
    with pytest.raises(KlocError, match="cannot write"):
        growing.write(made_up.document(made_up.run("tpp", 1.0)))
