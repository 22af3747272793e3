# SPDX-License-Identifier: GPL-2.0
"""`kloc exec`, `kloc enable` and `kloc disable`: the call, what is executed, what is said."""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.commands import disable, enable
from kloc.commands import exec as execute
from kloc.server import contexts, processes
from support import made_up_kernel

EFFECT = "files of all processes have contexts"


class Kernel:
    """A kernel with prctl(PR_KLOC): the calls that it got, and what it answers."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, ...]] = []
        self.error = 0

    def prctl(self, *arguments: int) -> int:
        self.calls.append(arguments)
        ctypes.set_errno(self.error)
        return -1 if self.error else 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    made = Kernel()
    monkeypatch.setattr(processes, "call_prctl", made.prctl)
    monkeypatch.setattr(contexts, "ROOT", made_up_kernel.make(tmp_path, scope="chosen"))
    terminal.stderr.cache_clear()
    return made


def pids(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    enable.add_arguments(parser)
    return parser.parse_args(argv)


def test_processes_are_chosen(kernel: Kernel, capsys: pytest.CaptureFixture[str]) -> None:
    assert enable.run(pids("12", "34")) == 0
    assert disable.run(pids("12")) == 0
    assert kernel.calls == [
        (0x4B4C4F43, 1, 12, 1, 0),
        (0x4B4C4F43, 1, 34, 1, 0),
        (0x4B4C4F43, 1, 12, 0, 0),
    ]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("scope", "enabled", "said"), [("all", "1", EFFECT), ("chosen", "0", "disabled")]
)
def test_it_is_said_if_that_has_no_effect(
    scope: str, enabled: str, said: str, kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    (contexts.ROOT / contexts.SETTINGS / "scope").write_text(f"{scope}\n")
    (contexts.ROOT / contexts.SETTINGS / "enabled").write_text(f"{enabled}\n")
    enable.run(pids("12"))
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ESRCH, "process 12 does not exist"),
        (errno.EPERM, "no permission to choose"),
        (errno.EINVAL, "cannot choose processes"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_errors_say_what_is_wrong(number: int, said: str, kernel: Kernel) -> None:
    kernel.error = number
    with pytest.raises(KlocError, match=said):
        enable.run(pids("12"))


def test_a_kernel_without_contexts(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel.error = errno.EINVAL
    monkeypatch.setattr(contexts, "ROOT", tmp_path / "nothing")
    with pytest.raises(KlocError, match="has no contexts"):
        execute.run(argparse.Namespace(program=["true"]))


@pytest.mark.skipif(
    (Path("/") / contexts.SETTINGS).exists(), reason="the kernel of this host has contexts"
)
def test_this_kernel_has_none() -> None:
    with pytest.raises(KlocError, match="has no contexts"):
        processes.is_chosen()


@pytest.mark.parametrize("pid", ["0", "-1", "x", str(1 << 31)])
def test_what_is_no_process(pid: str) -> None:
    with pytest.raises(SystemExit):
        pids("--", pid)


BECOME = """
import sys
from kloc.commands import exec
exec.become(sys.argv[1:], {"NAME": "a value", "PATH": "/usr/bin:/bin"})
"""


def become(*program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BECOME, *program],
        env={"PYTHONPATH": str(PROJECT / "src")},
        capture_output=True,
        text=True,
    )


def ignored(status: str) -> set[int]:
    """Return the signals that a process ignores, by its status in /proc."""
    (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:"))
    return {number for number in signal.valid_signals() if int(mask, 16) >> number - 1 & 1}


def test_the_command_is_executed_as_the_shell_would() -> None:
    done = become("sh", "-c", 'echo "$NAME"; cat /proc/self/status; exit 5')
    assert done.returncode == 5
    said, _, status = done.stdout.partition("\n")
    assert said == "a value"
    # Those that Python ignores are not; what nohup has these tests ignore is.
    own = ignored(Path("/proc/self/status").read_text())
    pythons = {signal.SIGPIPE, signal.SIGXFSZ}
    assert pythons <= own
    assert ignored(status) == own - pythons


def test_a_command_that_is_not_there() -> None:
    done = become("no-such-command-at-all")
    assert done.returncode != 0
    assert "no-such-command-at-all cannot be executed: No such file" in done.stderr


def test_nothing_to_execute(kernel: Kernel) -> None:
    with pytest.raises(KlocError, match="there is no command"):
        execute.run(argparse.Namespace(program=None))
    assert not kernel.calls


@pytest.mark.parametrize("before", [None, "", "/a:/b"])
def test_the_environment_is_the_callers(before: str | None) -> None:
    """The launcher sets PYTHONPATH for kloc alone."""
    lines = (PROJECT / "kloc").read_text().splitlines()
    script = "\n".join([lines[-2], "PYTHONPATH=/kloc exec env"])
    own = {"NAME": "a value"} | ({} if before is None else {"PYTHONPATH": before})
    printed = subprocess.run(
        ["/bin/sh", "-euc", script], env=own, capture_output=True, text=True, check=True
    ).stdout
    seen = dict(line.split("=", 1) for line in printed.splitlines())
    assert seen["PYTHONPATH"] == "/kloc"
    kept = execute.callers(seen)
    assert {name: value for name, value in kept.items() if name not in ("PWD", "_")} == own
