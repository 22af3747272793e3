# SPDX-License-Identifier: GPL-2.0
"""The commit of a checkout, and what differs from one: figures are of a commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kloc.base.errors import KlocError

SHORT = 7
"""How many digits of a commit documents show."""

NO_FIGURES = (":(exclude)docs", ":(exclude)tests", ":(exclude)*.md")
"""The files on which no figure depends, as git's pathspecs."""


def commit(directory: Path) -> str:
    """Return the commit that is checked out in `directory`, 40 digits."""
    return _git(directory, "rev-parse", "HEAD").strip()


def changed_since(directory: Path, since: str) -> list[str]:
    """Return the files of a checkout that differ from the commit `since`, and new files.

    Documents and tests are left out.
    """
    changed = _git(directory, "diff", "--name-only", since, "--", ".", *NO_FIGURES)
    new = _git(directory, "ls-files", "--others", "--exclude-standard", "--", ".", *NO_FIGURES)
    return [*changed.splitlines(), *new.splitlines()]


def changed_at(directory: Path, *names: str) -> int:
    """Return when the last commit that changed these files was made, in seconds since 1970.

    `names` are git's pathspecs, none for all files. Raises KlocError if no commit has them.
    """
    printed = _git(directory, "log", "-1", "--format=%ct", "--", *names).strip()
    if not printed:
        raise KlocError(
            f"no commit in {directory} has {' or '.join(names)}",
            "this needs a clone of the project with its history",
        )
    return int(printed)


def is_modified(directory: Path, *names: str) -> bool:
    """Return whether files of a checkout differ from its commit, or are new to git.

    `names` are git's pathspecs, none for all files.
    """
    return bool(_git(directory, "status", "--porcelain", "--", *names))


def _git(directory: Path, *argv: str) -> str:
    """Return what git prints. Raises KlocError with git's message if it fails."""
    # Another user, such as root, may run kloc, and must not write to the checkout.
    command = ["git", "--no-optional-locks", "-C", str(directory)]
    command += ["-c", f"safe.directory={directory}", *argv]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise KlocError("there is no git on this host", "install the package git") from error
    except subprocess.CalledProcessError as error:
        raise KlocError(
            f"git {argv[0]} failed in {directory}: {error.stderr.strip()}",
            "this needs a clone of the project with its history",
        ) from error
    return done.stdout
