# SPDX-License-Identifier: GPL-2.0
"""The parser of command lines: argparse, with errors that name the nearest option or value."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from kloc.base.errors import UsageError, closest
from kloc.commands import completers, help

USAGE_STATUS = UsageError.status


class Parser(argparse.ArgumentParser):
    """An argument parser with kloc's layout of help and wording of errors.

    `add_common_options` adds --help, so that it is among the other common options.
    """

    takes_program = False
    """Whether the command takes a program after `--`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": help.Formatter, "add_help": False, **options})

    def parse_all(self, words: Sequence[str], namespace: argparse.Namespace) -> None:
        """Parse `words` into `namespace`; exit with an error if one of them is not understood.

        Options may stand between arguments, and after them.
        """
        self._refuse_swallowed(words)
        _, unknown = self.parse_known_intermixed_args(words, namespace)
        options = [word for word in unknown if word.startswith("-")]
        if options:
            self.error(self._describe_unknown(options[0].partition("=")[0]))
        if unknown:
            self.error(f"unexpected argument '{unknown[0]}'")

    def error(self, message: str) -> NoReturn:
        """Print the error and where help is, and exit."""
        message = message.removeprefix("argument ")
        message = message.replace("the following arguments are required:", "missing argument:")
        message = message.replace("expected one argument", "needs a value")
        self.exit(USAGE_STATUS, f"kloc: {message}\n{self.prog} --help lists its options\n")

    def _describe_unknown(self, option: str) -> str:
        known = [name for name in self._option_string_actions if name.startswith("--")]
        similar = closest(option.lstrip("-"), [name.removeprefix("--") for name in known])
        guess = f", did you mean --{similar}?" if similar else ""
        own = "; options of your own program go after '--'" if self.takes_program else ""
        return f"unknown option {option}{guess}{own}"

    def _refuse_swallowed(self, words: Sequence[str]) -> None:
        """Exit with an error if an option whose value is optional has taken an argument's name.

        `--json redis` would write a file named redis, and measure nothing.
        """
        options = [one for one in self._actions if one.option_strings and one.nargs == "?"]
        arguments = [one for one in self._actions if not one.option_strings]
        for word, value in pairwise(words):
            for option in options:
                name = option.option_strings[-1]
                if not (word.startswith("--") and name.startswith(word)):
                    continue
                for argument in arguments:
                    if completers.is_name(argument, value):
                        self.exit(
                            USAGE_STATUS,
                            f"kloc: {name} {value}: this names a file, and {value} is a "
                            f"{argument.metavar}\nwrite {value} before {name}, or for a file of "
                            f"this name, {name} ./{value}\n",
                        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        similar = closest(str(value), choices)
        guess = f", did you mean '{similar}'?" if similar else ""
        raise argparse.ArgumentError(
            action, f"unknown value '{value}'{guess} (choose from {', '.join(choices)})"
        )


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command has."""
    group = parser.add_argument_group("common options")
    group.add_argument("-h", "--help", action="help", help="show this help")
    group.add_argument("--yes", action="store_true", help="answer yes to every question")
    group.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="the directory for everything that is built or downloaded "
        "(default: $KLOC_CACHE, else ~/.cache/kloc)",
    )
    group.add_argument("--verbose", action="store_true", help="print the commands that are run")
