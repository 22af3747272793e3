# SPDX-License-Identifier: GPL-2.0
"""The check of a user's program: is it in the machine?"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import UsageError
from kloc.commands import own_program


@pytest.fixture
def prog(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A program of the user's, in the current directory."""
    terminal.stderr.cache_clear()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a dir" / "prog"
    path.parent.mkdir()
    path.touch(mode=0o755)
    return path


@pytest.mark.parametrize("name", ["./a dir/prog", "a dir/prog", "a dir/../a dir/prog", "{}"])
def test_program_that_is_not_copied_is_refused_with_the_command_that_copies_it(
    name: str, prog: Path
) -> None:
    with pytest.raises(UsageError, match="the machine has no") as refused:
        own_program.check([name.format(prog), "-v"], [])
    hint = str(refused.value.hint)
    assert shlex.join(["--copy", str(prog), "--", str(prog), "-v"]) in hint
    assert "Debian 13" in hint and "--packages" in hint


def test_relative_path_is_refused_even_if_the_program_is_copied(prog: Path) -> None:
    with pytest.raises(UsageError):
        own_program.check(["a dir/prog"], [prog])


def test_copied_program_is_accepted(prog: Path) -> None:
    own_program.check([str(prog)], [prog])
    own_program.check([str(prog)], [prog.parent])
    with pytest.raises(UsageError):
        own_program.check([str(prog)], [prog.with_name("pro")])


@pytest.mark.parametrize(
    "program", ["ls", "/bin/sh", "/usr/bin/env", "/no/such", "./no/such", "a" * 300 + "/b"]
)
def test_program_that_the_machine_may_have_is_accepted(
    program: str, prog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_program.check([program, "-c", "a/b " * 200, "/etc/passwd", "/no/such"], [])
    assert capsys.readouterr().err == ""


def test_program_in_usr_local_is_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_program, "exists", lambda _: True)
    with pytest.raises(UsageError):
        own_program.check(["/usr/local/bin/prog"], [])


def test_arguments_that_name_own_files_are_reported(
    prog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_program.check(["cat", "./a dir/prog", str(prog), "dir/none", "-"], [])
    messages = capsys.readouterr().err.splitlines()
    assert len(messages) == 2
    assert all(f"--copy {shlex.quote(str(prog))}" in message for message in messages)
    own_program.check(["cat", str(prog)], [prog])
    assert capsys.readouterr().err == ""


def test_program_in_place_of_a_workload_is_told_the_dashes(prog: Path) -> None:
    error = own_program.after_dashes(["a dir/prog", "x"])
    assert "'--'" in error.message
    assert shlex.join(["--copy", str(prog), "--", str(prog), "x"]) in str(error.hint)
