# SPDX-License-Identifier: GPL-2.0
"""Questions to the user, and links to files."""

import io
import socket
from pathlib import Path

import pytest
from rich.console import Console

from kloc.base import terminal
from kloc.base.errors import KlocError


def test_question_without_a_terminal_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(KlocError, match="Install it") as error:
        terminal.ask("Install it?", "use --yes")
    assert error.value.hint == "use --yes"


def test_option_yes_answers_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    assert terminal.ask("Install it?", "")


@pytest.mark.parametrize(
    ("answer", "agreed"), [("", True), ("y", True), ("YES ", True), ("n", False), ("what", False)]
)
def test_answer_defaults_to_yes(monkeypatch: pytest.MonkeyPatch, answer: str, agreed: bool) -> None:
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(terminal.stderr(), "input", lambda prompt: answer)
    assert terminal.ask("Install it?", "") == agreed


def test_end_of_input_answers_no(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(terminal.stderr(), "input", end)
    assert not terminal.ask("Install it?", "")


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No size in the environment, and a new console for the test's output."""
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    terminal.stdout.cache_clear()
    return monkeypatch


LONG = "word " * 40


def test_lists_and_lines_are_not_folded_in_a_file(
    sizes: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.lists().print(LONG)
    terminal.print_line(f"[{LONG}]")
    assert capsys.readouterr().out.splitlines() == [LONG, f"[{LONG}]"]


def test_columns_of_the_environment_fold_lists(
    sizes: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes.setenv("COLUMNS", "50")
    terminal.lists().print(LONG)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 50


@pytest.mark.parametrize("size", ["0", ""])
def test_size_of_zero_is_none(
    size: str, sizes: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes.setenv("COLUMNS", size)
    sizes.setenv("LINES", size)
    assert (terminal.stdout().width, terminal.stdout().height) == (80, 25)
    terminal.lists().print("text")
    assert capsys.readouterr().out == "text\n"


def linked(monkeypatch: pytest.MonkeyPatch, path: Path, **how: object) -> str:
    """Return what is printed of a link to `path` on a console that is described by `how`."""
    file = io.StringIO()
    console = Console(file=file, highlight=False, soft_wrap=True, width=20, **how)
    monkeypatch.setattr(terminal, "stderr", lambda: console)
    monkeypatch.setattr(socket, "gethostname", lambda: "server")
    terminal.say_link("report", path)
    return file.getvalue()


def test_a_terminal_gets_a_link_that_names_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    printed = linked(monkeypatch, Path("/tmp/a report.html"), force_terminal=True)
    before, begin, rest = printed.partition("\x1b]8;")
    assert (before, begin) == ("report: ", "\x1b]8;")
    # The identity of a link, which differs each time, and its target.
    assert rest.partition(";")[2] == (
        "file://server/tmp/a%20report.html\x1b\\file:///tmp/a%20report.html\x1b]8;;\x1b\\\n"
    )


def test_a_file_and_a_terminal_without_links_get_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "report: file:///tmp/a%20report.html\n"
    assert linked(monkeypatch, Path("/tmp/a report.html")) == url
    monkeypatch.setenv("TERM", "dumb")
    assert linked(monkeypatch, Path("/tmp/a report.html"), force_terminal=True) == url


def test_a_link_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert linked(monkeypatch, Path("r.html")) == f"report: {(tmp_path / 'r.html').as_uri()}\n"
