# SPDX-License-Identifier: GPL-2.0
"""The command line: finds the subcommand's module and runs it."""

import argparse
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

from kloc import commands
from kloc.base import cache, terminal
from kloc.base.errors import KlocError, explained

FAILED = 1
USAGE = 2
INTERRUPTED = 130


class Command(Protocol):
    """What a module under kloc.commands has."""

    NAME: str
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own options."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; return the exit status."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own); return the exit status."""
    arguments, program = _split(list(sys.argv[1:] if argv is None else argv))
    parser = _parser(_commands())
    _complete(parser)
    args = parser.parse_args(arguments)
    if program is not None and not getattr(args.command, "TAKES_PROGRAM", False):
        parser.error(f"{args.command.NAME} takes no program after '--'")
    args.program = program
    _end_as_if_interrupted()
    try:
        _settle(args)
        return cast(Command, args.command).run(args)
    except KlocError as error:
        _report(error)
        return FAILED
    except KeyboardInterrupt:
        terminal.say("kloc: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (OSError, subprocess.CalledProcessError) as error:
        terminal.detail(traceback.format_exc().rstrip())
        _report(explained(error))
        return FAILED


def _end_as_if_interrupted() -> None:
    """Let a SIGTERM, and a terminal that closes, do what Ctrl-C does: all is cleaned up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # nohup says that kloc is to go on.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)


def _split(argv: list[str]) -> tuple[list[str], list[str] | None]:
    """Split at `--` into kloc's own arguments and a program with its own, or None."""
    if "--" not in argv:
        return argv, None
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def _commands() -> list[Command]:
    names = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
    modules = [importlib.import_module(f"kloc.commands.{name}") for name in names]
    return [cast(Command, module) for module in modules if hasattr(module, "NAME")]


def _parser(known: Sequence[Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kloc", description="Kernel objects in tiered memory.")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    common = _common_options()
    for command in known:
        subparser = subparsers.add_parser(
            command.NAME, help=command.HELP, description=command.HELP, parents=[common]
        )
        subparser.set_defaults(command=command)
        command.add_arguments(subparser)
    return parser


def _common_options() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    group = common.add_argument_group("options of every command")
    group.add_argument("--yes", action="store_true", help="answer yes to every question")
    group.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="where all that is built is kept (default: $KLOC_CACHE, else ~/.cache/kloc)",
    )
    group.add_argument("--verbose", action="store_true", help="show the commands that are run")
    return common


def _complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell if this is a request to complete a command line."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)


def _settle(args: argparse.Namespace) -> None:
    terminal.settings.yes = args.yes
    terminal.settings.verbose = args.verbose
    if args.cache is not None:
        cache.use_directory(args.cache)
    environment = Path(sys.prefix)
    if environment.parent == cache.directory() / "python":
        cache.hold(environment)


def _report(error: KlocError) -> None:
    terminal.say(f"kloc: {error.message}")
    if error.hint:
        terminal.say(error.hint)
