# SPDX-License-Identifier: GPL-2.0
"""The parser of command lines: argparse, with errors that name the nearest option or value."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from kloc.base.errors import closest
from kloc.commands import help

USAGE_STATUS = 2


class Parser(argparse.ArgumentParser):
    """An argument parser with kloc's layout of help and wording of errors.

    `add_common_options` adds --help, so that it is among the other common options.
    """

    takes_program = False
    """Whether the command takes a program after `--`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": help.Formatter, "add_help": False, **options})

    def parse_all(self, words: Sequence[str], namespace: argparse.Namespace) -> None:
        """Parse `words` into `namespace`; exit with an error if one of them is not understood."""
        _, unknown = self.parse_known_args(words, namespace)
        options = [word for word in unknown if word.startswith("-")]
        if options:
            self.error(self._describe_unknown(options[0].partition("=")[0]))
        if unknown:
            self.error(f"unexpected argument '{unknown[0]}'")

    def error(self, message: str) -> NoReturn:
        """Print the error and where help is, and exit."""
        message = message.removeprefix("argument ")
        message = message.replace("the following arguments are required:", "missing argument:")
        self.exit(USAGE_STATUS, f"kloc: {message}\n{self.prog} --help lists its options\n")

    def _describe_unknown(self, option: str) -> str:
        known = [name for name in self._option_string_actions if name.startswith("--")]
        similar = closest(option.lstrip("-"), [name.removeprefix("--") for name in known])
        guess = f", did you mean --{similar}?" if similar else ""
        own = "; options of your own program go after '--'" if self.takes_program else ""
        return f"unknown option {option}{guess}{own}"

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
