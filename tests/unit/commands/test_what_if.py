# SPDX-License-Identifier: GPL-2.0
"""`kloc what-if`: a dry run lists the rows with their page kinds."""

from __future__ import annotations

import pytest

from support.command import run


def test_a_dry_run_lists_the_kinds_of_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("what-if", "redis", "--quick", "--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "all-slow" in lines[0] and lines[0].endswith("none")
    assert "application" in lines[2] and lines[2].endswith("anon, shmem")
    assert "oracle" in lines[-1]
