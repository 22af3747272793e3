# SPDX-License-Identifier: GPL-2.0
"""Writes the man pages of kloc and of its commands, from their help, with help2man.

usage: man_pages.py DIRECTORY

The commands are those that need no checkout and no simulated machine.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from kloc import __version__, commands

SUMMARY = "tier the kernel's own memory, and apply schemes of DAMON"

WIDTH = 80
"""Columns of the help that help2man reads; man wraps its paragraphs anew."""

SECTION = 1


def for_help2man(text: str) -> str:
    """Return kloc's help as the GNU tools print theirs, which help2man understands."""
    first, rest = text.split("\n\n", 1)
    usage = first.replace("usage: ", "Usage: ").replace("\n       kloc ", "\n  or:  kloc ")
    # Titles of groups begin with a capital letter.
    titled = re.sub(r"^([a-z].*:)$", lambda title: title[1].capitalize(), rest, flags=re.M)
    return f"{usage}\n\n{titled}"


def help_of(*argv: str) -> str:
    """Return what kloc prints with --help."""
    command = [sys.executable, "-P", "-m", "kloc", *argv, "--help"]
    env = {**os.environ, "COLUMNS": str(WIDTH)}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def write(directory: Path, name: str, summary: str, text: str, others: list[str]) -> None:
    """Write the man page `name`; `others` are the pages that it refers to."""
    with tempfile.TemporaryDirectory() as scratch:
        # help2man calls the page as it calls the program that it asks for help.
        program, more = Path(scratch) / name, Path(scratch) / "more"
        program.write_text(f"#!/bin/sh\nprintf %s {shlex.quote(for_help2man(text))}\n")
        program.chmod(0o755)
        pages = ",\n".join(f".BR {other} ({SECTION})" for other in others)
        more.write_text(f"[see also]\n{pages}\n")
        argv = ["help2man", "--no-info", f"--section={SECTION}", f"--name={summary}"]
        argv += ["--manual=kloc", "--source=kloc", f"--version-string={__version__}"]
        page = directory / f"{name}.{SECTION}"
        subprocess.run([*argv, f"--include={more}", f"--output={page}", program], check=True)


def main(directory: Path) -> None:
    """Write all pages."""
    names = {f"kloc-{one.file}": one for one in commands.ALL if one.check is None}
    write(directory, "kloc", SUMMARY, help_of(), list(names))
    for name, command in names.items():
        write(directory, name, command.help, help_of(*command.name.split()), ["kloc"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
