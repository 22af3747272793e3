# SPDX-License-Identifier: GPL-2.0
"""`kloc exec`: the process is chosen, and becomes the command."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.paths import PROJECT
from kloc.commands import exec as command
from kloc.server import contexts, processes, system
from support import made_up_kernel
from support.command import run

REPLACE = """
import sys
from kloc.commands import exec
exec.replace_process(sys.argv[1:], {"NAME": "a value", "PATH": "/usr/bin:/bin"})
"""


def replaced(*program: str) -> subprocess.CompletedProcess[str]:
    """Return what a process did that was replaced by `program`."""
    return subprocess.run(
        [sys.executable, "-c", REPLACE, *program],
        env={"PYTHONPATH": str(PROJECT / "src")},
        capture_output=True,
        text=True,
    )


def ignored_signals(status: str) -> set[int]:
    """Return the signals that a process ignores, by its status in /proc."""
    (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:"))
    return {number for number in signal.valid_signals() if int(mask, 16) >> number - 1 & 1}


def test_process_is_chosen_before_it_becomes_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events: list[object] = []

    def prctl(*arguments: int) -> int:
        events.append(arguments[2:4])
        return 0

    terminal.stderr.cache_clear()
    monkeypatch.setattr(system, "ROOT", made_up_kernel.make(tmp_path, scope="chosen"))
    monkeypatch.setattr(processes, "call_prctl", prctl)
    monkeypatch.setattr(command, "replace_process", lambda program, _: events.append(program))
    run("exec", "--", "ls", "-l")
    # Process 0 is the caller.
    assert events == [(0, 1), ["ls", "-l"]]


def test_kernel_without_contexts_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def prctl(*_: int) -> int:
        command.processes.ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(processes, "call_prctl", prctl)
    monkeypatch.setattr(system, "ROOT", tmp_path / "nothing")
    with pytest.raises(KlocError, match="has no policies of memory"):
        run("exec", "--", "true")


@pytest.mark.skipif(
    (Path("/") / contexts.SETTINGS).exists(), reason="the kernel of this host has contexts"
)
def test_kernel_of_this_host_has_no_contexts() -> None:
    with pytest.raises(KlocError, match="has no policies of memory"):
        processes.is_chosen()


@pytest.mark.parametrize("argv", [[], ["--"]], ids=["nothing", "dashes"])
def test_command_is_required(argv: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "call_prctl", lambda *_: pytest.fail("chosen"))
    with pytest.raises(UsageError, match="no command"):
        run("exec", *argv)


def test_command_is_executed_as_a_shell_would() -> None:
    done = replaced("sh", "-c", 'echo "$NAME"; cat /proc/self/status; exit 5')
    assert done.returncode == 5
    name, _, status = done.stdout.partition("\n")
    assert name == "a value"
    # Signals that Python ignores are not ignored; those that nohup had these tests ignore are.
    own = ignored_signals(Path("/proc/self/status").read_text())
    pythons = {signal.SIGPIPE, signal.SIGXFSZ}
    assert pythons <= own
    assert ignored_signals(status) == own - pythons


@pytest.mark.parametrize(
    ("program", "reason", "status"),
    [
        ("no-such-command-at-all", "No such file", 127),
        ("/no/such/command", "No such file", 127),
        ("/etc/passwd", "Permission denied", 126),
        ("/etc", "Permission denied", 126),
    ],
)
def test_command_that_cannot_be_executed_has_the_status_of_shells(
    program: str, reason: str, status: int
) -> None:
    with pytest.raises(KlocError, match=f"cannot execute {program}: {reason}") as error:
        command.replace_process([program], {"PATH": "/usr/bin:/etc/passwd"})
    assert error.value.status == status
    assert error.value.hint
    # This process goes on, as before: a pipe without a reader does not end it.
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN


@pytest.mark.parametrize("before", [None, "", "/a:/b"])
def test_environment_is_the_callers(before: str | None) -> None:
    """The launcher sets PYTHONPATH for kloc alone."""
    lines = (PROJECT / "kloc").read_text().splitlines()
    (keep,) = (line for line in lines if command.CALLERS_PYTHONPATH in line)
    own = str(PROJECT / "src")
    script = "\n".join([keep, f"PYTHONPATH={own} exec env"])
    caller = {"NAME": "a value"} | ({} if before is None else {"PYTHONPATH": before})
    printed = subprocess.run(
        ["/bin/sh", "-euc", script], env=caller, capture_output=True, text=True, check=True
    ).stdout
    environment = dict(line.split("=", 1) for line in printed.splitlines())
    assert environment["PYTHONPATH"] == own
    kept = command.callers_environment(environment)
    assert {name: value for name, value in kept.items() if name not in ("PWD", "_")} == caller


def test_environment_of_an_installed_kloc_is_the_callers() -> None:
    caller = {"PYTHONPATH": "/a:/b"}
    assert command.callers_environment(caller) == caller
