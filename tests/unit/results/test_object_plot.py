# SPDX-License-Identifier: GPL-2.0
"""The plot of `kloc objects`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.measure import object_use
from kloc.results import object_plot
from support.made_up import OBJECTS

INPUTS = {"small": object_use.uses(OBJECTS), "large": object_use.uses(OBJECTS)}


@pytest.mark.parametrize(("name", "magic"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG")])
def test_a_plot_is_the_same_each_time(name: str, magic: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    object_plot.plot(path, "redis", INPUTS)
    drawn = path.read_bytes()
    assert drawn.startswith(magic)
    object_plot.plot(path, "redis", INPUTS)
    assert path.read_bytes() == drawn


def test_a_plot_names_the_groups_of_kinds(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    object_plot.plot(path, "redis", INPUTS)
    text = path.read_text()
    assert "page cache" in text and "journal" in text


def test_a_plot_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=r"a\.svg"):
        object_plot.plot(tmp_path / "none" / "a.svg", "redis", INPUTS)
