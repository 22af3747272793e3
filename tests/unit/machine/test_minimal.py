# SPDX-License-Identifier: GPL-2.0
"""The minimal machine: its initramfs, its output, and how a run fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kloc.base.errors import KlocError
from kloc.build.kernel import Kernel
from kloc.machine import minimal


class FakeRoot:
    """A tool root in which QEMU prints `output`, writes `console` and ends with `status`."""

    def __init__(self) -> None:
        self.output: list[str] = []
        self.console = ""
        self.status = 0
        self.archived: list[str] = []
        self.argv: list[str] = []

    def run(self, argv: Sequence[str], *, stdin: str, **_: Any) -> None:
        assert argv[0] == "cpio"
        self.archived = stdin.splitlines()

    def follow(
        self, argv: Sequence[str], on_line: Callable[[str], None], *, cwd: Path, **_: Any
    ) -> int:
        self.argv = list(argv)
        (cwd / "console").write_text(self.console)
        for line in self.output:
            on_line(line)
        return self.status


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> FakeRoot:
    """The fake tool root that minimal.run uses."""
    fake = FakeRoot()
    monkeypatch.setattr(minimal.root, "tool_root", lambda: fake)
    qemu = SimpleNamespace(program=Path("/qemu"), binds=[])
    monkeypatch.setattr(minimal.build_qemu, "build", lambda: qemu)
    return fake


def run(directory: Path) -> list[str]:
    """Run a program with one more file, and return the lines that it printed."""
    files = {"init": directory / "program", "settings": directory / "text"}
    for path in files.values():
        path.write_text("content")
    kernel = cast(Kernel, SimpleNamespace(image=Path("/vmlinux")))
    lines: list[str] = []
    minimal.run(kernel, files, ["/counter.so", "output=x"], lines.append, directory)
    return lines


def test_program_finds_its_files_and_mount_points(tools: FakeRoot, tmp_path: Path) -> None:
    run(tmp_path)
    assert tools.archived == [".", "data", "dev", "init", "proc", "settings", "sys"]


def test_qemu_counts_instructions_and_loads_the_plugin(tools: FakeRoot, tmp_path: Path) -> None:
    run(tmp_path)
    text = " ".join(tools.argv)
    assert "insn-ps=1000" in text and "-smp 1" in text
    assert "-plugin /counter.so,output=x" in text


def test_lines_of_the_program_are_not_mixed_with_those_of_qemu(
    tools: FakeRoot, tmp_path: Path
) -> None:
    tools.output = ["one\n", "qemu-system-x86_64: warning\n", "two\n"]
    assert run(tmp_path) == ["one", "two"]


def test_crash_of_the_kernel_is_an_error(tools: FakeRoot, tmp_path: Path) -> None:
    tools.console = "booting\nKernel panic - not syncing\n"
    with pytest.raises(KlocError) as failed:
        run(tmp_path)
    assert failed.value.message.splitlines() == [
        "the kernel crashed",
        "Kernel panic - not syncing",
    ]
    assert str(tmp_path / "console") in (failed.value.hint or "")


def test_failure_of_qemu_shows_its_message(tools: FakeRoot, tmp_path: Path) -> None:
    tools.status, tools.output = 1, ["qemu-system-x86_64: no memory\n"]
    with pytest.raises(KlocError, match="status 1") as failed:
        run(tmp_path)
    assert "no memory" in failed.value.message
