# SPDX-License-Identifier: GPL-2.0
"""Settings that the kernel does not have, and the names that are meant."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kloc.server import plan, setting_files, system
from kloc.server.config import Config
from support import made_up_server

TIERING = "/sys/kernel/mm/tiering"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(system, "ROOT", made_up_server.make(tmp_path))
    return tmp_path


@pytest.fixture
def other_kernel(server: Path) -> None:
    """The server's kernel is not kloc's."""
    shutil.rmtree(server / "sys/kernel/mm/tiering")


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "path",
    [
        f"{TIERING}/rate_mbps",
        f"{TIERING}/kloc/inactive_age",
        f"{TIERING}/node12/max_kb",
        "/sys/kernel/mm/kloc/scope",
        "/sys/kernel/mm/lru_gen/enabled",
    ],
)
def test_files_of_this_kernel_and_of_klocs_have_no_problem(path: str) -> None:
    assert setting_files.problem(path) is None


@pytest.mark.usefixtures("other_kernel")
def test_files_of_klocs_kernel_are_known_under_another_one() -> None:
    assert setting_files.problem(f"{TIERING}/thermostat/rounds") is None
    assert setting_files.problem(f"{TIERING}/node0/max_kb") is None


@pytest.mark.usefixtures("other_kernel")
@pytest.mark.parametrize(
    ("path", "lacks", "similar"),
    [
        (f"{TIERING}/rate_mbsp", f"{TIERING}/rate_mbsp", f"{TIERING}/rate_mbps"),
        (f"{TIERING}/kloc/inactive", f"{TIERING}/kloc/inactive", f"{TIERING}/kloc/inactive_age"),
        ("/sys/kernel/mm/kloc/kind", "/sys/kernel/mm/kloc/kind", "/sys/kernel/mm/kloc/kinds"),
        ("/sys/kernel/mm/lru_gne/enabled", "/sys/kernel/mm/lru_gne", "/sys/kernel/mm/lru_gen"),
        ("/proc/sys/vm/swapiness", "/proc/sys/vm/swapiness", ""),
    ],
)
def test_a_name_that_no_kernel_has_is_a_problem_with_a_guess(
    path: str, lacks: str, similar: str
) -> None:
    problem = setting_files.problem(path) or ""
    assert f"kernel has no {lacks}" in problem
    assert problem.partition(", did you mean ")[2] == (f"{similar}?" if similar else "")


def test_debugfs_that_is_not_mounted_hides_its_files(server: Path) -> None:
    path = "/sys/kernel/debug/sched/verbose"
    assert not setting_files.is_hidden(path)
    assert "no /sys/kernel/debug/sched/verbose" in (setting_files.problem(path) or "")
    shutil.rmtree(server / "sys/kernel/debug")
    (server / "sys/kernel/debug").mkdir()
    assert setting_files.is_hidden(path)
    assert setting_files.problem(path) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads all directories")
def test_a_directory_that_this_user_may_not_read_hides_its_files(server: Path) -> None:
    (server / "sys/kernel/debug").chmod(0)
    assert setting_files.is_hidden("/sys/kernel/debug/sched/verbose")
    # No PermissionError.
    assert [refused.message for refused in plan.refusals(Config())] == []
    (server / "sys/kernel/debug").chmod(0o700)
