# SPDX-License-Identifier: GPL-2.0
"""The command line: commands, common options, help, and how errors are reported."""

import errno
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc import cli, commands
from kloc.base import cache, crash, errors, revision, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.paths import PROJECT
from kloc.commands import help, parser
from support import golden

Start = Callable[..., int]

SERVER = [command.name for command in commands.COMMANDS if command.group == commands.SERVER]

WITHOUT_EXTRAS = [command.name for command in commands.COMMANDS if not command.needs]

BLOCK = """
import sys
for name in ("numpy", "scipy", "matplotlib", "jinja2", "msgspec", "debian", "pytest"):
    sys.modules[name] = None
from kloc import cli
try:
    cli.main(sys.argv[1:])
except SystemExit:
    print(" ".join(sorted(name for name in sys.modules if name.startswith("kloc."))))
"""
"""Runs a command line where no extra can be imported, and prints kloc's imported modules."""

BLOCK_ALL = """
import importlib.metadata, sys
def version(name):
    raise importlib.metadata.PackageNotFoundError(name)
importlib.metadata.version, sys.prefix = version, "/none"
for name in ("rich", "argcomplete", "numpy", "matplotlib", "jinja2", "msgspec", "debian", "pytest"):
    sys.modules[name] = None
from kloc import cli
sys.exit(cli.main(sys.argv[1:]))
"""
"""Runs a command line on a Python that has no packages."""


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> terminal.Settings:
    """The settings of the command line, and help that is 80 columns wide."""
    settings = terminal.Settings()
    monkeypatch.setattr(terminal, "settings", settings)
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    monkeypatch.setenv("COLUMNS", "80")
    # Where tracebacks of unexpected errors go.
    monkeypatch.setattr(crash.tempfile, "tempdir", str(tmp_path))
    terminal.stderr.cache_clear()
    return settings


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """A function that runs the command `try`, which calls a function with its options."""

    def start(run: Callable[[Any], int], *argv: str, takes_program: bool = False) -> int:
        command = commands.Command("try", commands.DEVELOP, "", takes_program=takes_program)
        module = SimpleNamespace(
            USAGE=[""], DESCRIPTION="", EXAMPLES=[("", "")], add_arguments=lambda _: None, run=run
        )
        monkeypatch.setattr(commands, "COMMANDS", (command,))
        monkeypatch.setattr(commands.Command, "load", lambda _: module)
        return cli.main(["try", *argv])

    return start


def printed_help(*argv: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert not end.value.code
    return capsys.readouterr().out


def test_overview_is_printed_as_in_the_golden_file(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed_help("--help", capsys=capsys)
    golden.check("help", text)
    assert printed_help(capsys=capsys) == text
    assert printed_help("--verbose", capsys=capsys) == text


@pytest.mark.parametrize("command", commands.ALL, ids=lambda command: command.name)
def test_help_is_printed_as_in_the_golden_file(
    command: commands.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.name.split()
    text = printed_help(*words, "--help", capsys=capsys)
    golden.check(command.file, text, help.STORED)
    assert printed_help("help", *words, capsys=capsys) == text


@pytest.mark.parametrize("name", [one.name for one in commands.ALL])
def test_help_and_version_need_no_package(name: str) -> None:
    for argv in ([*name.split(), "--help"], ["help", *name.split()], ["--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", BLOCK_ALL, *argv],
            env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("kloc 0" if argv == ["--version"] else "usage: kloc ")


@pytest.mark.parametrize("command", commands.ALL, ids=lambda command: command.name)
def test_examples_in_help_are_understood(
    command: commands.Command,
) -> None:
    examples = command.load().EXAMPLES
    assert 1 <= len(examples) <= 3
    for line, explanation in examples:
        assert explanation
        if match := re.match(r"kloc ([^|]*)", line):
            words = match[1].replace("$(pidof mysqld)", "12 34").split()
            assert cli.parse(words).command is command


def test_no_line_of_help_exceeds_its_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns, width in (("80", 80), ("300", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        for argv in [["--help"], *([*command.name.split(), "--help"] for command in commands.ALL)]:
            lines = printed_help(*argv, capsys=capsys).splitlines()
            assert max(map(len, lines)) <= width, argv


def test_version_is_the_projects_with_its_commit(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    text = printed_help("--version", capsys=capsys)
    known = revision.commit() != revision.UNKNOWN
    commit = f" ({revision.commit()})" if known else ""
    assert text == f"kloc {project['version']}{commit}\n"


@pytest.mark.parametrize("has_git", [False, True])
def test_version_needs_no_git(
    has_git: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(revision, "PROJECT", tmp_path)
    monkeypatch.setattr(revision, "commit", revision.commit.__wrapped__)
    if has_git:
        (tmp_path / ".git").mkdir()
    assert re.fullmatch(r"kloc [0-9.]+", cli.version())


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["comprae"], ["unknown command 'comprae'", "'compare'"]),
        (["compare", "redis", "--polcy", "tpp"], ["unknown option --polcy", "--policies"]),
        (["run", "redis", "--polcy=tpp"], ["unknown option --polcy", "--policy", "after '--'"]),
        (["compare", "redis", "--policies", "tp"], ["unknown policy 'tp'", "'tpp'"]),
        (["run", "rediss"], ["unknown workload 'rediss'", "'redis'"]),
        (["run", "redis", "--machine", "tierd"], ["unknown machine 'tierd'", "'tiered'"]),
        (["top", "--sort", "sped"], ["--sort", "'sped'", "choose from", "fast, slow"]),
        (["kernel", "biuld"], ["'biuld'", "'build'"]),
        (["kernel", "build", "--variant", "debgu"], ["'debgu'", "'debug'"]),
        (["bench", "costs"], ["'costs'", "'cost'"]),
        (["bench", "cost", "--kernels", "mashine", "--dry-run"], ["'mashine'", "'machine'"]),
        (["doctor", "--prune", "al-unused"], ["'al-unused'", "'all-unused'"]),
        (["--verbos", "--chace", "doctor"], ["unknown option --chace", "--cache"]),
        (["what-if"], ["missing", "WORKLOAD"]),
        (["status", "now"], ["unexpected argument 'now'"]),
        (["run", "redis", "--seed", "x"], ["--seed", "'x'"]),
        (["run", "redis", "--quick", "--long"], ["--quick", "--long"]),
        (["status", "--", "ls"], ["no program"]),
        (["--", "ls"], ["no command"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_command_lines_name_the_nearest_and_have_their_own_status(
    argv: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status: object = cli.main(argv)
    except SystemExit as end:
        status = end.code
    assert status == parser.USAGE_STATUS
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("kloc: ")
    assert all(word in printed.err for word in words), printed.err


def test_options_can_be_abbreviated() -> None:
    assert cli.parse(["compare", "redis", "--machin=cxl"]).machine == "cxl"


def test_common_options_stand_before_or_after_the_command(
    start: Start, settings: terminal.Settings, empty_cache: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    assert start(lambda _: 7, "--yes", "--verbose", "--cache", str(other)) == 7
    assert settings == terminal.Settings(yes=True, verbose=True)
    assert cache.directory() == other
    args = cli.parse(["--yes", "--cache", "/a", "try", "--verbose"])
    assert (args.yes, args.verbose, args.cache) == (True, True, Path("/a"))


def test_errors_are_reported_with_their_hint(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise KlocError("it [is] broken", hint="fix it")

    assert start(run) == cli.FAILED
    assert capsys.readouterr().err == "kloc: it [is] broken\nfix it\n"


def test_error_may_have_a_status_of_its_own(start: Start) -> None:
    def run(_: object) -> int:
        error = KlocError("the program failed")
        error.status = 77
        raise error

    assert start(run) == 77


def test_usage_errors_have_their_own_status(start: Start) -> None:
    def run(_: object) -> int:
        raise UsageError("one or the other")

    assert start(run) == parser.USAGE_STATUS


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/a/b"),
            ["/a/b: Permission denied", errors.NOT_ALLOWED],
        ),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
            ["No space left on device", errors.NO_SPACE],
        ),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "/a"), ["/a: Is a directory"]),
        (subprocess.CalledProcessError(2, ["tar", "-x"]), ["tar", "status 2", "kloc doctor"]),
    ],
    ids=["permission", "space", "directory", "process"],
)
def test_system_errors_are_explained_and_traced_with_verbose(
    error: Exception, words: list[str], start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise error

    assert start(run) == cli.FAILED
    message = capsys.readouterr().err
    assert all(word in message for word in words)
    assert "Traceback" not in message
    assert start(run, "--verbose") == cli.FAILED
    assert "Traceback" in capsys.readouterr().err


def test_unexpected_error_is_one_line_that_names_the_traceback(
    start: Start,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(crash.tempfile, "tempdir", str(tmp_path))

    def run(_: object) -> int:
        return 1 // 0

    assert start(run) == crash.STATUS == 70
    (traceback,) = tmp_path.iterdir()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("kloc: unexpected ZeroDivisionError: ")
    assert line.endswith(str(traceback))
    assert "return 1 // 0" in traceback.read_text()


def test_error_while_an_error_is_reported_is_reported(
    start: Start, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def say(message: str) -> None:
        raise ValueError("not a message")

    def run(_: object) -> int:
        raise KlocError("it is broken")

    monkeypatch.setattr(cli.terminal, "say", say)
    assert start(run) == crash.STATUS
    assert "unexpected ValueError" in capsys.readouterr().err


FULL = Path("/dev/full")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("argv", [["--help"], ["completion", "bash"]], ids=" ".join)
def test_output_that_cannot_be_written_is_no_matter_of_the_cache(
    argv: list[str], unbuffered: str
) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kloc", *argv],
            env={
                **os.environ,
                "PYTHONPATH": str(PROJECT / "src"),
                "PYTHONUNBUFFERED": unbuffered,
            },
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == cli.FAILED
    first, hint = done.stderr.splitlines()
    assert first == "kloc: cannot write to standard output: No space left on device"
    assert "prune" not in hint


@pytest.mark.parametrize(
    ("redirection", "status"), [("2>/dev/full", 2), ("2>&-", 2), (">&- 2>&-", 2)]
)
def test_status_is_that_of_the_error_even_if_it_cannot_be_printed(
    redirection: str, status: int
) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m kloc nosuch {redirection}', sys.executable],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
    )
    assert done.returncode == status


def test_cache_of_another_user_is_reported(
    start: Start,
    empty_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def hold(environment: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", f"{environment}.used")

    monkeypatch.setattr(cache, "hold", hold)
    own = empty_cache / "python" / "key"
    own.mkdir(parents=True)
    (own / "ready").touch()
    monkeypatch.setattr(cli.sys, "prefix", str(own))
    assert start(lambda _: 0) == cli.FAILED
    assert "--cache DIR" in capsys.readouterr().err


def test_environment_of_others_needs_no_cache(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.sys, "prefix", "/usr")
    monkeypatch.setattr(cache, "directory", lambda: pytest.fail("used the cache"))
    assert start(lambda _: 0) == 0


def test_interrupt_has_its_own_status(start: Start) -> None:
    def run(_: object) -> int:
        raise KeyboardInterrupt

    assert start(run) == cli.INTERRUPTED


def test_second_interrupt_is_one_too(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.terminal, "say", interrupt)
    assert start(interrupt) == cli.INTERRUPTED


def test_interrupt_at_the_start_prints_no_traceback() -> None:
    kloc = subprocess.Popen(
        ["env", "--block-signal=INT", sys.executable, "-m", "kloc", "status"],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    # Python can have done nothing yet.
    kloc.send_signal(signal.SIGINT)
    _, printed = kloc.communicate(timeout=60)
    assert (kloc.returncode, printed) in [
        (cli.INTERRUPTED, "kloc: interrupted\n"),
        # `env` had not blocked the signal.
        (-signal.SIGINT, ""),
    ]


@pytest.mark.parametrize(
    ("before", "caught"),
    [
        (signal.SIG_DFL, {signal.SIGTERM, signal.SIGHUP}),
        # nohup starts programs so.
        (signal.SIG_IGN, {signal.SIGTERM}),
    ],
)
def test_closing_terminal_interrupts_unless_nohup_started_kloc(
    before: signal.Handlers,
    caught: set[signal.Signals],
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handlers: dict[signal.Signals, object] = {}
    monkeypatch.setattr(cli.signal, "getsignal", lambda _: before)
    monkeypatch.setattr(cli.signal, "signal", handlers.__setitem__)
    assert start(lambda _: 0) == 0
    assert handlers == dict.fromkeys(caught, signal.default_int_handler)


def test_program_after_two_dashes_goes_to_commands_that_take_one(start: Start) -> None:
    programs = []

    def run(args: Any) -> int:
        programs.append(args.program)
        return 0

    start(run, "--", "ls", "--", "-l", takes_program=True)
    start(run, takes_program=True)
    start(run, "--", takes_program=True)
    assert programs == [["ls", "--", "-l"], None, []]


@pytest.mark.parametrize("name", WITHOUT_EXTRAS)
def test_command_without_extras_imports_none(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCK, name, "--help"],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"usage: kloc {name}" in done.stdout
    modules = done.stdout.splitlines()[-1].split()
    assert f"kloc.commands.{name}" in modules
    packages = {module.split(".")[1] for module in modules}
    if name in SERVER:
        assert packages <= {"base", "cli", "commands", "server"}
        others = [other for other in commands.COMMANDS if other.group != commands.SERVER]
        assert not {other.module for other in others} & set(modules)
    if name == "scheme":
        assert packages <= {"base", "cli", "commands", "schemes"}


def test_extras_are_installed_before_the_command_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    required = []

    def require(extra: str, user: str) -> None:
        required.append((extra, user))
        raise KlocError("no network")

    monkeypatch.setattr(cli.environment, "require", require)
    monkeypatch.setattr(commands.Command, "load", lambda _: pytest.fail("imported"))
    assert cli.main(["compare", "redis"]) == cli.FAILED
    assert cli.main(["test"]) == cli.FAILED
    assert required == [("measure", "kloc compare"), ("measure", "kloc test")]
