# SPDX-License-Identifier: GPL-2.0
"""`kloc choose` and `kloc release`: the system calls, and what is reported."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.server import contexts, processes, system, tiering
from support import made_up_kernel
from support.command import parse, run

PR_KLOC = 0x4B4C4F43


class Kernel:
    """A kernel with prctl(PR_KLOC): the calls that it got, and the error that it returns."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, ...]] = []
        self.error = 0

    def prctl(self, *arguments: int) -> int:
        self.calls.append(arguments)
        ctypes.set_errno(self.error)
        return -1 if self.error else 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    kernel = Kernel()
    monkeypatch.setattr(processes, "call_prctl", kernel.prctl)
    monkeypatch.setattr(system, "ROOT", made_up_kernel.make(tmp_path, scope="chosen"))
    terminal.stderr.cache_clear()
    return kernel


def test_processes_are_chosen_and_released(
    kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("choose", "12", "34") == 0
    assert run("release", "12") == 0
    assert kernel.calls == [
        (PR_KLOC, 1, 12, 1, 0),
        (PR_KLOC, 1, 34, 1, 0),
        (PR_KLOC, 1, 12, 0, 0),
    ]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["choose", "release"])
@pytest.mark.parametrize(
    ("scope", "policy", "words"), [("all", "kloc", "scope"), ("chosen", "none", "none")]
)
def test_choice_without_effect_is_reported(
    command: str,
    scope: str,
    policy: str,
    words: str,
    kernel: Kernel,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (system.ROOT / contexts.SETTINGS / "scope").write_text(f"{scope}\n")
    (system.ROOT / tiering.POLICY).write_text(f"{policy}\n")
    (system.ROOT / contexts.HAS_CONTEXTS).write_text(f"{int(policy == 'kloc')}\n")
    assert run(command, "12") == 0
    message = capsys.readouterr().err
    assert "no effect" in message and words in message


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ESRCH, "process 12 does not exist"),
        (errno.EPERM, "no permission"),
        (errno.EINVAL, "cannot choose processes"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_errors_of_the_kernel_are_explained(number: int, words: str, kernel: Kernel) -> None:
    kernel.error = number
    with pytest.raises(KlocError, match=words):
        run("choose", "12", "34")
    assert len(kernel.calls) == 1


@pytest.mark.parametrize("command", ["choose", "release"])
@pytest.mark.parametrize("pid", ["0", "-1", "x", str(1 << 31)])
def test_other_words_are_no_process(
    command: str, pid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(command, pid)
    assert pid in capsys.readouterr().err
