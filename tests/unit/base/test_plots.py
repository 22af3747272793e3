# SPDX-License-Identifier: GPL-2.0
"""Files of plots."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base import plots
from kloc.base.errors import KlocError


def test_only_svg_and_png_files_are_plots() -> None:
    plots.check(Path("plot.svg"))
    plots.check(Path("plot.png"))
    with pytest.raises(KlocError, match=r"\.svg or \.png") as error:
        plots.check(Path("plot.pdf"))
    assert "plot.svg" in str(error.value.hint)


@pytest.mark.parametrize("suffix", plots.SUFFIXES)
def test_a_figure_is_written_at_the_end(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"plot{suffix}"
    with plots.drawn(path, figsize=(2, 2)) as (_, axes):
        axes.plot([1, 2])
        assert not path.exists()
    assert path.stat().st_size > 100


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(KlocError, match="cannot write"),
        plots.drawn(tmp_path / "none" / "plot.svg"),
    ):
        pass
