# SPDX-License-Identifier: GPL-2.0
"""Parses the command line, runs the command's module and reports its errors."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kloc import commands
from kloc.base import cache, crash, environment, revision, terminal
from kloc.base.errors import KlocError, UsageError, explained
from kloc.commands import help, parser

FAILED = 1
INTERRUPTED = 130

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that interrupt kloc."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: this process's) and return the exit status.

    Raises nothing but SystemExit: an unexpected error is reported by kloc.base.crash.
    """
    try:
        return _main(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        # A second Ctrl-C, during what the first one made kloc do.
        return INTERRUPTED
    except Exception as error:
        return crash.report(error, version())


def _main(argv: Sequence[str]) -> int:
    """Run the command line; report the errors that are expected."""
    try:
        _catch_signals()
        if "_ARGCOMPLETE" in os.environ:
            _complete()
        try:
            args = parse(argv)
        except SystemExit:
            # At its end, Python would ignore that this fails; so below.
            sys.stdout.flush()
            raise
        _apply_common_options(args)
        command: commands.Command = args.command
        status = command.load().run(args)
        sys.stdout.flush()
        return status
    except KlocError as error:
        _report(error)
        return error.status
    except KeyboardInterrupt:
        terminal.say("kloc: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return FAILED
    except (OSError, subprocess.CalledProcessError) as error:
        terminal.detail(traceback.format_exc().rstrip())
        if isinstance(error, OSError) and error.filename == terminal.STDOUT:
            _discard_stdout()
            reason = f"cannot write to {terminal.STDOUT}: {error.strerror}"
            _report(KlocError(reason, "make space where it goes, or send it elsewhere"))
            return FAILED
        _report(found := explained(error))
        return found.status


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line, with its `command` and its `program` (None without).

    Installs the packages that the command needs, because its module imports them. Prints help or
    the version, and exits, where that is asked for. Exits with status
    parser.USAGE_STATUS, or raises UsageError, if the command line is wrong.
    """
    words, program = _split_program(argv)
    first = _command_index(words)
    args = argparse.Namespace()
    _top_parser().parse_all(words[:first], args)
    if first == len(words):
        if program is not None:
            raise UsageError("no command before '--'", help.HINT)
        print(help.overview(), end="")
        raise SystemExit(0)
    name, rest = words[first], words[first + 1 :]
    if name == "help":
        return parse([*rest, "--help"])
    args.command = command = commands.find(name).chosen(rest)
    # Help needs no network: nothing is installed for it.
    asks_help = bool({"-h", "--help"} & set(rest))
    if asks_help and not all(map(environment.has, command.needs)):
        print(help.stored(command.file), end="")
        raise SystemExit(0)
    if not asks_help:
        command.require_files(rest)
    for extra in command.needs:
        environment.require(extra, f"kloc {command.name}")
    command_parser = parser.Parser(prog=f"kloc {command.name}")
    _configure(command_parser, command)
    command_parser.parse_all(rest, args)
    if program is not None and not command.takes_program:
        command_parser.error("this command takes no program after '--'")
    args.program = program
    return args


def version() -> str:
    """Return kloc's version, with the commit of its checkout or package if that is known."""
    commit = revision.commit()
    return f"kloc {revision.version()}" + ("" if commit == revision.UNKNOWN else f" ({commit})")


class _PrintVersion(argparse.Action):
    """Prints the version and exits. argparse's own action would run git for every command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(version())
        parser.exit()


def _top_parser() -> parser.Parser:
    """Return the parser of the options that may stand before the command."""
    top = parser.Parser(prog="kloc")
    parser.add_common_options(top)
    top.add_argument("--version", action=_PrintVersion, nargs=0)
    top.format_help = help.overview  # type: ignore[method-assign]
    return top


def _configure(command_parser: parser.Parser, command: commands.Command) -> None:
    """Give the parser the command's help, arguments and options."""
    module = command.load()
    command_parser.usage = help.usage(command.name, module.USAGE)
    command_parser.description = help.wrap(module.DESCRIPTION)
    command_parser.epilog = help.examples(module.EXAMPLES)
    command_parser.takes_program = command.takes_program
    module.add_arguments(command_parser)
    parser.add_common_options(command_parser)


def _split_program(argv: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Split at the first `--`: return kloc's own words, and the program's, None without `--`."""
    words = list(argv)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _command_index(words: Sequence[str]) -> int:
    """Return the index of the first word that is no option, nor the value of --cache."""
    index = 0
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] == "--cache" else 1
    return min(index, len(words))


def _complete() -> None:
    """Answer a shell that asks how a command line may go on, and exit."""
    import argcomplete

    top = _top_parser()
    subparsers = top.add_subparsers(metavar="COMMAND", parser_class=parser.Parser)
    words = os.environ.get("COMP_LINE", "").split()
    for command in commands.COMMANDS:
        command_parser = subparsers.add_parser(command.name, help=command.help)
        # Before the command's packages are installed, only its name is completed.
        form = command.chosen(words)
        if command.name in words and all(environment.has(extra) for extra in form.needs):
            _configure(command_parser, form)
    argcomplete.autocomplete(top)


def _catch_signals() -> None:
    """Treat SIGTERM and a closing terminal as Ctrl-C, so that everything is cleaned up.

    The launcher has blocked these signals, because Python prints a traceback if one of them arrives
    while it starts. Here they are let in.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # nohup ignores SIGHUP so that kloc keeps running.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)


def _apply_common_options(args: argparse.Namespace) -> None:
    terminal.settings.yes = args.yes
    terminal.settings.verbose = args.verbose
    if args.cache is not None:
        cache.use_directory(args.cache)
    # Elsewhere, a server command needs no cache directory.
    own = Path(sys.prefix)
    if environment.is_own() and own.parent == cache.directory() / "python":
        cache.hold(own)


def _discard_stdout() -> None:
    """Let what Python still has for stdout go nowhere, so that it ends without a message."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: KlocError) -> None:
    # If stderr cannot be written, the exit status has to do.
    with suppress(OSError):
        terminal.say(f"kloc: {error.message}")
        if error.hint:
            terminal.say(error.hint)
