# SPDX-License-Identifier: GPL-2.0
"""Commands and running processes are measured, and nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.tune import workloads
from kloc.tune.tree import Tree
from kloc.tune.workloads import Command, Process

MIB = 1 << 20

USES_20_MIB = "import time; memory = b'x' * (20 << 20); time.sleep(1.5)"

BUSY = "while True: pass"


class FakeSetting:
    """Records what is applied to which processes."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.pids: set[int] = set()

    def start(self, value: float | None, pids: Sequence[int]) -> None:
        self.calls.append(value)
        self.pids.update(pids)

    def follow(self, pids: Sequence[int]) -> None:
        self.pids.update(pids)

    def stop(self) -> None:
        self.calls.append("stop")


@pytest.fixture
def setting() -> FakeSetting:
    return FakeSetting()


def command(setting: FakeSetting, *program: str) -> Command:
    return Command(program, os.environ, setting)


def test_a_command_has_its_runtime_and_its_average_memory(setting: FakeSetting) -> None:
    measured = command(setting, sys.executable, "-c", USES_20_MIB).measure(7.0)
    assert 0.5 < measured.runtime < 5
    assert 15 * MIB < measured.memory < 80 * MIB
    assert setting.calls == [7.0, "stop"]


def test_processes_that_the_command_starts_are_watched_and_counted(setting: FakeSetting) -> None:
    inner = f'"{sys.executable}" -c "{USES_20_MIB}"'
    measured = command(setting, "sh", "-c", f"{inner} & {inner} & wait").measure(1.0)
    assert measured.memory > 25 * MIB
    assert len(setting.pids) >= 3


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo out; echo reason >&2; exit 3", r"status 3:\nout\nreason"),
        ("kill -9 $$", "signal 9"),
    ],
)
def test_a_failed_command_is_an_error_with_its_output(
    script: str, words: str, setting: FakeSetting
) -> None:
    with pytest.raises(KlocError, match=words):
        command(setting, "sh", "-c", script).measure(1.0)
    assert setting.calls[-1] == "stop"


def test_a_command_that_does_not_exist_is_an_error(setting: FakeSetting) -> None:
    with pytest.raises(KlocError, match="cannot execute /no/such"):
        command(setting, "/no/such").measure(1.0)


def test_an_interrupt_ends_the_command_and_the_scheme(
    setting: FakeSetting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workloads.Memory, "read", interrupt)
    pid = tmp_path / "pid"
    with pytest.raises(KeyboardInterrupt):
        command(setting, "sh", "-c", f"sleep 1000 & echo $! >{pid}; wait").measure(1.0)
    assert setting.calls == [1.0, "stop"]
    end = time.monotonic() + 5
    while Path(f"/proc/{pid.read_text().strip()}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_alive(int(pid.read_text()))


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        return Tree(pid).alive()
    except KlocError:
        return False


@pytest.fixture
def busy() -> Iterator[int]:
    """The pid of a process that computes."""
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    yield process.pid
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_busy_process_needs_about_a_second_for_a_second_of_cpu_time(
    busy: int, setting: FakeSetting
) -> None:
    # As long as a host needs whose CPUs have much else to do.
    measured = Process(busy, 12.0, None, setting).measure(2.0)
    assert 0.5 < measured.runtime < 10
    assert measured.memory > MIB
    assert setting.calls == [2.0, "stop"]


def test_progress_of_the_users_is_measured(busy: int, setting: FakeSetting) -> None:
    progress = iter([100.0, 300.0])
    measured = Process(busy, 0.4, lambda: next(progress), setting).measure(None)
    assert measured.runtime == pytest.approx(0.2 / 200, rel=0.8)


def test_a_process_without_progress_is_an_error(setting: FakeSetting) -> None:
    process = subprocess.Popen(["sleep", "1000"])
    try:
        with pytest.raises(KlocError, match="too little progress") as error:
            Process(process.pid, 0.4, None, setting).measure(1.0)
        assert "--progress" in str(error.value.hint)
        with pytest.raises(KlocError, match="too little progress"):
            Process(process.pid, 0.4, lambda: 5.0, setting).measure(1.0)
    finally:
        process.kill()
        process.wait()


def test_a_process_that_ends_is_an_error(setting: FakeSetting) -> None:
    process = subprocess.Popen(["sleep", "0.3"])
    with pytest.raises(KlocError, match="ended while it was measured"):
        Process(process.pid, 30.0, None, setting).measure(1.0)
    assert setting.calls == [1.0, "stop"]
    process.wait()
    with pytest.raises(KlocError, match="does not exist"):
        Process(process.pid, 30.0, None, setting)
