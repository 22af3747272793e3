# SPDX-License-Identifier: GPL-2.0
"""The kernel is built in a process of its own, which ends with this one."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from kloc.base import cache, progress, terminal
from kloc.base.paths import PROJECT
from kloc.build import kernel, kernel_process, root

PYTHON = sys.executable

BUILD = """\
#!/bin/sh
trap 'echo stopped >>{log}; exit 130' TERM
echo "$PYTHONPATH $*" >>{log}
echo 'building the kernel: 41 %, 3:05 left' >&2
while [ ! -e {go} ]; do sleep 0.02; done
echo built >>{log}
exit {status}
"""
"""Stands for kloc: it builds until the file {go} exists."""

PARENT = """\
from kloc.build import kernel, kernel_process
import sys, time

kernel.is_missing = lambda: True
sys.executable = "{program}"
with kernel_process.building():
    time.sleep(60)
"""


class Builder:
    """A made-up kloc that builds the kernel, and what it has done."""

    def __init__(self, directory: Path) -> None:
        self.program, self.go, self.log = (directory / name for name in ("kloc", "go", "log"))
        self.log.touch()
        self.write(0)

    def write(self, status: int) -> None:
        """Let the build end with this status."""
        self.program.write_text(BUILD.format(go=self.go, log=self.log, status=status))
        self.program.chmod(0o755)

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> Builder:
    """The kernel is missing, and this builder builds it."""
    made = Builder(tmp_path)
    monkeypatch.setattr(sys, "executable", str(made.program))
    monkeypatch.setattr(kernel, "is_missing", lambda: True)
    return made


def test_the_kernel_is_built_while_the_block_runs_and_waited_for(
    builder: Builder, empty_cache: Path
) -> None:
    with kernel_process.building():
        wait_for(builder.lines)
        builder.go.touch()
    started, built = builder.lines()
    assert built == "built"
    assert started == f"{PROJECT}/src -P -m kloc --cache {empty_cache} kernel build"


def test_an_error_in_the_block_stops_the_build(builder: Builder) -> None:
    with pytest.raises(KeyboardInterrupt), kernel_process.building():
        wait_for(builder.lines)
        raise KeyboardInterrupt
    assert builder.lines()[1:] == ["stopped"]


def test_a_build_that_fails_is_left_to_who_needs_the_kernel(builder: Builder) -> None:
    builder.write(status=1)
    builder.go.touch()
    with kernel_process.building():
        pass
    assert builder.lines()[1:] == ["built"]


def test_the_build_ends_with_a_process_that_is_killed(builder: Builder, empty_cache: Path) -> None:
    parent = subprocess.Popen(
        [PYTHON, "-c", PARENT.format(program=builder.program)],
        env={"PYTHONPATH": f"{PROJECT}/src", "KLOC_CACHE": str(empty_cache)},
    )
    wait_for(builder.lines)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_for(lambda: builder.lines()[1:] == ["stopped"])


def test_progress_of_the_build_is_shown_when_nothing_else_is_left(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = io.StringIO()
    console = Console(file=output, width=100, soft_wrap=True)
    monkeypatch.setattr(terminal, "stderr", lambda: console)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)
    poll = kernel_process.time.sleep

    def sleep(seconds: float) -> None:
        if "building the kernel: 41 %, 3:05 left\n" in output.getvalue():
            builder.go.touch()
        poll(seconds / 10)

    monkeypatch.setattr(kernel_process.time, "sleep", sleep)
    with kernel_process.building():
        pass
    assert builder.lines()[1:] == ["built"]


@pytest.mark.parametrize("name", ["is_missing", "is_writable"])
def test_nothing_is_built_that_is_there_or_could_not_be_written(
    name: str, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel if name == "is_missing" else cache, name, lambda: False)
    with kernel_process.building():
        pass
    assert builder.lines() == []


def test_a_kernel_is_missing_until_its_entry_is_complete(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root, "tool_root", lambda: root.Root(Path("/none"), "key"))
    monkeypatch.setattr(root.Root, "versions", lambda _: {"linux-source": "6.12"})
    with cache.dry_run() as needed:
        with pytest.raises(FileNotFoundError):
            kernel.build()
        # A dry run builds nothing.
        assert not kernel.is_missing()
    (entry,) = needed
    assert kernel.is_missing()
    entry.with_name(entry.name + cache.DRAFT).mkdir(parents=True)
    assert kernel.is_missing()
    entry.mkdir()
    assert not kernel.is_missing()
    assert kernel.is_missing("kunit")
