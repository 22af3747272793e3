# SPDX-License-Identifier: GPL-2.0
"""Checks a program of the user's: whether the machine will have it and its files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import UsageError

IN_MACHINE = ("/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr")
"""Directories whose files may come with Debian's packages, so that the machine has them, too."""

LIBRARIES = (
    "the machine has the libraries of Debian 13: link the program statically, "
    "or name the packages of its libraries with --packages"
)


def check(program: Sequence[str], copies: Sequence[Path]) -> None:
    """Raise UsageError if the program is a file of this host that is not copied.

    Print a message about each argument that names such a file. `copies` are the absolute paths
    that are copied.
    """
    name = program[0]
    if "/" in name and exists(name) and not _is_in_machine(name, copies):
        raise UsageError(f"the machine has no {name}", _copy_hint(program))
    for argument in program[1:]:
        if _is_own_file(argument) and not _is_in_machine(argument, copies):
            path = _normalized(argument)
            terminal.say(
                f"the machine may have no {argument}: --copy {shlex.quote(path)} copies it, "
                f"and it is called {path} there"
            )


def after_dashes(words: Sequence[str]) -> UsageError:
    """Return the error for a program that was given where a workload belongs."""
    return UsageError(
        f"{words[0]} is not a workload; a program of your own goes after '--'", _copy_hint(words)
    )


def exists(name: str) -> bool:
    """Return whether `name` is a path of this host; a long script, for example, is none."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _copy_hint(program: Sequence[str]) -> str:
    path = _normalized(program[0])
    command = shlex.join(["kloc", "run", "--copy", path, "--", path, *program[1:]])
    return f"copy it: {command}\n{LIBRARIES}"


def _is_in_machine(name: str, copies: Sequence[Path]) -> bool:
    """Return whether the machine can have the file; relative paths are not the same there."""
    if not Path(name).is_absolute():
        return False
    path = Path(_normalized(name))
    if any(path.is_relative_to(_normalized(str(copy))) for copy in copies):
        return True
    # Debian's packages install nothing in /usr/local.
    return any(map(path.is_relative_to, IN_MACHINE)) and not path.is_relative_to("/usr/local")


def _is_own_file(argument: str) -> bool:
    """Return whether an argument is the path of a file in the user's directories."""
    path = Path(_normalized(argument))
    homes = {Path.cwd(), Path.home()} - {Path("/")}
    return "/" in argument and exists(argument) and any(map(path.is_relative_to, homes))


def _normalized(name: str) -> str:
    """Return the absolute path without "." and ".."; links are kept, as they are when copied."""
    return os.path.normpath(Path.cwd() / name)
