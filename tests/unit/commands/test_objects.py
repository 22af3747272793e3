# SPDX-License-Identifier: GPL-2.0
"""`kloc objects`: the plot's format is checked first, and a dry run lists both inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from support.command import run


def test_a_plot_in_another_format_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=r"plot\.pdf.*\.svg"):
        run("objects", "redis", "--plot", f"{tmp_path}/plot.pdf")


def test_a_dry_run_lists_both_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("objects", "redis", "--dry-run") == 0
    small, large = capsys.readouterr().out.splitlines()
    assert "small" in small and "large" in large
