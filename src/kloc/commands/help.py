# SPDX-License-Identifier: GPL-2.0
"""The layout of help: of `kloc --help`, and of each command's --help."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path

from kloc import commands

WIDTH_MAX = 100
"""Columns. Longer lines are hard to read, however wide the terminal is."""

STORED = Path(__file__).with_name("help_texts")
"""The help of each command, as a terminal of 80 columns shows it; a test compares them.

It is printed where the packages that the command's module imports are not installed.
"""

HINT = "kloc --help lists the commands"

DESCRIPTION = """\
kloc compares tiering policies of Linux on real applications, in a simulated machine with fast and
slow memory. On a server that runs kloc's kernel, it inspects and controls kernel-level object
contexts (KLOC), which tier the kernel's own memory.
"""

EXAMPLES = (
    ("kloc compare rocksdb redis", "compare the policies on both"),
    ("kloc test", "run all tests and the linters"),
    ("kloc run --copy $PWD/prog -- $PWD/prog", "measure a program of your own"),
    ("kloc status", "what contexts do on this server"),
)


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help for the terminal's width, up to WIDTH_MAX."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=width())

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width, break_on_hyphens=False)


def stored(name: str) -> str:
    """Return the help of a command without importing its module."""
    return (STORED / f"{name}.txt").read_text(encoding="utf-8")


def width() -> int:
    """Return how wide help is, in columns: $COLUMNS, else as the terminal, else 80."""
    return min(shutil.get_terminal_size().columns, WIDTH_MAX)


def wrap(text: str) -> str:
    """Return the paragraphs of `text`, each wrapped to the width of help."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(
        textwrap.fill(" ".join(paragraph.split()), width(), break_on_hyphens=False)
        for paragraph in paragraphs
    )


def usage(name: str, forms: Sequence[str]) -> str:
    """Return the lines after "usage: " for a command that can be called in these `forms`."""
    return "\n       ".join(f"kloc {name} {form}".rstrip() for form in forms)


def examples(lines: Sequence[tuple[str, str]]) -> str:
    """Return example command lines with their explanations, which a shell reads as comments."""
    column = max(len(line) for line, _ in lines)
    return "\n".join(
        ["examples:", *(f"  {line:{column}}  # {explanation}" for line, explanation in lines)]
    )


def overview() -> str:
    """Return the text of `kloc --help`."""
    column = max(len(command.name) for command in commands.COMMANDS) + 2
    sections = ["usage: kloc COMMAND [options]", wrap(DESCRIPTION)]
    for group, title in commands.GROUPS.items():
        rows = [
            f"  {command.name:{column}}{command.help}"
            for command in commands.COMMANDS
            if command.group == group
        ]
        sections.append("\n".join([f"{title}:", *rows]))
    options = {
        "COMMAND --help": "show the options of a command, with examples",
        "--version": "show kloc's version and commit",
    }
    rows = [f"  {option:<16}{meaning}" for option, meaning in options.items()]
    sections.append("\n".join(["help:", *rows]))
    sections.append(examples(EXAMPLES))
    return "\n\n".join(sections) + "\n"
