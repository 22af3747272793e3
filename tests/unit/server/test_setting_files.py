# SPDX-License-Identifier: GPL-2.0
"""Settings that the kernel does not have, and the names that are meant."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_a_file_that_can_only_be_read_is_no_setting(server: Path) -> None:
    path = "/sys/kernel/mm/tiering/kloc/promote_uses"
    file = server / path.lstrip("/")
    file.write_text("2\n")
    file.chmod(0o444)
    assert setting_files.problem(path) == f"{path} can only be read"
    file.chmod(0o644)
    assert setting_files.problem(path) is None


@pytest.mark.usefixtures("server")
def test_a_directory_is_no_setting() -> None:
    path = "/sys/kernel/mm/lru_gen"
    assert setting_files.problem(path) == f"{path} is a directory"


def test_files_of_modules_and_devices_may_come_later(server: Path) -> None:
    (server / "sys/module/zswap").mkdir(parents=True)
    for path in ("/sys/module/zswp/enabled", "/sys/block/sda/queue/scheduler"):
        assert setting_files.problem(path) is None
        assert "does not exist now" in (setting_files.doubt(path) or "")
    doubt = setting_files.doubt("/sys/module/zswp/enabled") or ""
    assert doubt.endswith(", did you mean /sys/module/zswap?")
    assert "no /sys/moduel" in (setting_files.problem("/sys/moduel/zswap/enabled") or "")


def test_debugfs_that_is_not_mounted_hides_its_files(server: Path) -> None:
    path = "/sys/kernel/debug/sched/verbose"
    assert setting_files.doubt(path) is None
    assert "no /sys/kernel/debug/sched/verbose" in (setting_files.problem(path) or "")
    shutil.rmtree(server / "sys/kernel/debug")
    (server / "sys/kernel/debug").mkdir()
    assert setting_files.is_hidden(path)
    assert setting_files.problem(path) is None
    assert "with debugfs mounted" in (setting_files.doubt(path) or "")


def test_settings_in_debugfs_are_left_out_where_it_is_not_mounted(server: Path) -> None:
    shutil.rmtree(server / "sys/kernel/debug")
    (server / "sys/kernel/debug").mkdir()
    path = "/sys/kernel/debug/sched/verbose"
    planned = plan.make(Config(settings={path: "Y"}))
    assert path not in dict(planned.writes)
    assert "sched/verbose" in planned.notes[0]


def test_a_directory_that_this_user_may_not_read_hides_its_files(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests may run as root, who reads all directories.
    hidden, access = server / "sys/kernel/debug", os.access

    def refusing(call: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(path: Path, *args: Any, **named: Any) -> Any:
            if path == hidden or hidden in path.parents:
                raise PermissionError
            return call(path, *args, **named)

        return refuse

    monkeypatch.setattr(Path, "iterdir", refusing(Path.iterdir))
    monkeypatch.setattr(Path, "exists", refusing(Path.exists))
    monkeypatch.setattr(
        os, "access", lambda path, mode: hidden not in path.parents and access(path, mode)
    )
    assert setting_files.is_hidden("/sys/kernel/debug/sched/verbose")
    assert [refused.message for refused in plan.refusals(Config())] == []
