# SPDX-License-Identifier: GPL-2.0
"""Choosing and releasing processes: the system call, and messages about it."""

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

PR_KLOC = 0x4B4C4F43


class Kernel:
    """A kernel with prctl(PR_KLOC): notes the calls, and answers them."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, ...]] = []
        self.result = 0
        self.error = 0

    def prctl(self, *arguments: int) -> int:
        self.calls.append(arguments)
        ctypes.set_errno(self.error)
        return -1 if self.error else self.result


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    """A made-up kernel with contexts of chosen processes."""
    made_up = Kernel()
    monkeypatch.setattr(processes, "call_prctl", made_up.prctl)
    monkeypatch.setattr(system, "ROOT", made_up_kernel.make(tmp_path, scope="chosen"))
    terminal.stderr.cache_clear()
    return made_up


def test_choose_and_release_set_the_flag_of_a_process(kernel: Kernel) -> None:
    processes.choose(12)
    processes.release(12)
    processes.choose()
    assert kernel.calls == [
        (PR_KLOC, 1, 12, 1, 0),
        (PR_KLOC, 1, 12, 0, 0),
        (PR_KLOC, 1, 0, 1, 0),
    ]


@pytest.mark.parametrize(("result", "expected"), [(0, False), (1, True)])
def test_is_chosen_gets_the_flag(kernel: Kernel, result: int, expected: bool) -> None:
    kernel.result = result
    assert processes.is_chosen(12) is expected
    assert kernel.calls == [(PR_KLOC, 0, 12, 0, 0)]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ESRCH, "process 12"),
        (errno.EPERM, "permission.* process 12"),
        (errno.EINVAL, f"Linux {os.uname().release}, cannot choose"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_errors_name_the_process_or_the_kernel(kernel: Kernel, number: int, words: str) -> None:
    kernel.error = number
    for change in (processes.choose, processes.release):
        with pytest.raises(KlocError, match=words):
            change(12)


def test_a_user_without_permission_is_told_to_become_root(kernel: Kernel) -> None:
    kernel.error = errno.EPERM
    with pytest.raises(KlocError) as error:
        processes.choose(12)
    assert error.value.hint == system.AS_ROOT


def test_a_kernel_without_contexts_is_named(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel.error = errno.EINVAL
    monkeypatch.setattr(system, "ROOT", tmp_path / "none")
    with pytest.raises(KlocError, match="no policies of memory tiers"):
        processes.choose()


@pytest.mark.skipif(
    (Path("/") / contexts.SETTINGS).exists(), reason="the kernel of this host has contexts"
)
def test_the_kernel_of_this_host_refuses() -> None:
    with pytest.raises(KlocError, match="no policies of memory tiers"):
        processes.is_chosen()


@pytest.mark.parametrize(
    ("values", "command"),
    [
        (
            {tiering.POLICY: "none", contexts.HAS_CONTEXTS: "0"},
            "the selected policy, none, has no contexts; as root: echo kloc > /sys",
        ),
        ({f"{contexts.SETTINGS}/scope": "all"}, "echo chosen"),
    ],
)
def test_a_choice_without_effect_is_explained_with_a_command(
    kernel: Kernel,
    capsys: pytest.CaptureFixture[str],
    values: dict[str, str],
    command: str,
) -> None:
    for path, value in values.items():
        (system.ROOT / path).write_text(f"{value}\n")
    processes.warn_if_ineffective()
    assert command in " ".join(capsys.readouterr().err.split())


def test_a_kernel_without_scope_has_contexts_of_all_processes(
    kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    (system.ROOT / contexts.SETTINGS / "scope").unlink()
    processes.warn_if_ineffective()
    assert "all processes" in capsys.readouterr().err


def test_a_choice_with_effect_is_not_commented(
    kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    processes.warn_if_ineffective()
    assert capsys.readouterr().err == ""
