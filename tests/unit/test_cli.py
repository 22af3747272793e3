# SPDX-License-Identifier: GPL-2.0
import argparse
import errno
import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc import cli
from kloc.base import cache, errors, terminal
from kloc.base.errors import KlocError


def command(run: Any, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(NAME="try", HELP="", add_arguments=lambda _: None, run=run, **more)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> terminal.Settings:
    settings = terminal.Settings()
    monkeypatch.setattr(terminal, "settings", settings)
    return settings


def start(monkeypatch: pytest.MonkeyPatch, command: SimpleNamespace, *argv: str) -> int:
    monkeypatch.setattr(cli, "_commands", lambda: [command])
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    return cli.main(["try", *argv])


def test_every_command_has_name_and_help() -> None:
    commands = cli._commands()
    assert {"doctor", "kernel", "test"} <= {command.NAME for command in commands}
    assert all(command.HELP for command in commands)


def test_the_common_options(
    monkeypatch: pytest.MonkeyPatch, settings: terminal.Settings, empty_cache: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    argv = ["--yes", "--verbose", "--cache", str(other)]
    assert start(monkeypatch, command(lambda _: 7), *argv) == 7
    assert settings == terminal.Settings(yes=True, verbose=True)
    assert cache.directory() == other


def test_an_error_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, settings: terminal.Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(args: argparse.Namespace) -> int:
        raise KlocError("it [is] broken", hint="mend it")

    terminal.stderr.cache_clear()
    assert start(monkeypatch, command(run)) == 1
    assert capsys.readouterr().err == "kloc: it [is] broken\nmend it\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/a/b"),
            f"kloc: /a/b: Permission denied\n{errors.NOT_ALLOWED}\n",
        ),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
            f"kloc: No space left on device\n{errors.NO_SPACE}\n",
        ),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "/a"), "kloc: /a: Is a directory\n"),
        (
            subprocess.CalledProcessError(2, ["tar", "-x"]),
            "kloc: tar failed (status 2)\n"
            "what it said is above; kloc doctor says whether there is room\n",
        ),
    ],
)
def test_what_the_system_refuses_is_said(
    error: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    settings: terminal.Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(args: argparse.Namespace) -> int:
        raise error

    terminal.stderr.cache_clear()
    assert start(monkeypatch, command(run)) == 1
    assert capsys.readouterr().err == said
    assert start(monkeypatch, command(run), "--verbose") == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_cache_of_somebody_elses(
    monkeypatch: pytest.MonkeyPatch, settings: terminal.Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    def hold(environment: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", f"{environment}.used")

    monkeypatch.setattr(cache, "hold", hold)
    monkeypatch.setattr(cli.sys, "prefix", str(cache.directory() / "python" / "key"))
    terminal.stderr.cache_clear()
    assert start(monkeypatch, command(lambda _: 0)) == 1
    assert "--cache DIR" in capsys.readouterr().err


def test_an_interrupt(monkeypatch: pytest.MonkeyPatch, settings: terminal.Settings) -> None:
    def run(args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    assert start(monkeypatch, command(run)) == 130


@pytest.mark.parametrize(
    ("before", "heard"),
    [
        (signal.SIG_DFL, {signal.SIGTERM, signal.SIGHUP}),
        # As nohup starts it.
        (signal.SIG_IGN, {signal.SIGTERM}),
    ],
)
def test_a_terminal_that_closes_interrupts(
    before: signal.Handlers,
    heard: set[signal.Signals],
    monkeypatch: pytest.MonkeyPatch,
    settings: terminal.Settings,
) -> None:
    handlers = {}
    monkeypatch.setattr(cli, "_commands", lambda: [command(lambda _: 0)])
    monkeypatch.setattr(cli.signal, "getsignal", lambda _: before)
    monkeypatch.setattr(cli.signal, "signal", handlers.__setitem__)
    assert cli.main(["try"]) == 0
    assert handlers == dict.fromkeys(heard, signal.default_int_handler)


def test_a_program_after_two_dashes(
    monkeypatch: pytest.MonkeyPatch, settings: terminal.Settings
) -> None:
    seen = []

    def run(args: argparse.Namespace) -> int:
        seen.append(args.program)
        return 0

    start(monkeypatch, command(run, TAKES_PROGRAM=True), "--", "ls", "--", "-l")
    start(monkeypatch, command(run, TAKES_PROGRAM=True))
    assert seen == [["ls", "--", "-l"], None]
    with pytest.raises(SystemExit) as end:
        start(monkeypatch, command(run), "--", "ls")
    assert end.value.code == 2
