# SPDX-License-Identifier: GPL-2.0
"""`kloc policies` reads policies only: a broken workload file does not matter to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.measure import policy, workload
from support import golden
from support.command import run


@pytest.fixture
def broken_workload(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Replace all workloads by a file that cannot be executed."""
    (tmp_path / "broken.py").write_text("raise SystemError('executed')\n")
    monkeypatch.setattr(workload, "WORKLOADS", tmp_path)
    workload.registry.cache_clear()
    yield
    workload.registry.cache_clear()


@pytest.mark.usefixtures("broken_workload")
def test_policies_are_listed_without_executing_workload_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KlocError, match="executed"):
        workload.names()
    assert run("policies") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in policy.names())


def test_a_daemon_is_shown_with_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("policies", "damo-tier") == 0
    golden.check("policies-daemon", capsys.readouterr().out)
