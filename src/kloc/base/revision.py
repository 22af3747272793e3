# SPDX-License-Identifier: GPL-2.0
"""The version of kloc, and the commit of its checkout or package, which is in every result."""

from __future__ import annotations

import functools
import subprocess

from kloc import __version__
from kloc.base import paths
from kloc.base.paths import PROJECT

FILE = "commit"
"""The file with the commit in a package, which hatch_build.py writes, or a copy of a checkout."""

VERSION_FILE = "version"
"""The file with the version of the Debian package, which packaging/debian/rules writes there."""

UNKNOWN = "unknown"
"""Stands for the commit of a kloc that is not in a git checkout, or recorded none."""

MODIFIED = ", modified"
"""Follows the commit if files of the checkout differ from it."""


def version() -> str:
    """Return kloc's version: that of the Debian package, if this is one."""
    file = paths.shipped(VERSION_FILE)
    return file.read_text().strip() if file.is_file() else __version__


@functools.cache
def commit() -> str:
    """Return the commit as `git describe` names it, UNKNOWN if neither git nor the package does.

    It is that of the first call: kloc runs the code that it has loaded, whatever is checked out
    later. Files that git does not know, such as results, do not make a checkout MODIFIED.
    """
    if not (PROJECT / ".git").exists():
        file = paths.shipped(FILE)
        return file.read_text().strip() if file.is_file() else UNKNOWN
    # Another user, such as root, may run kloc, and the checkout may be read-only.
    git = ["git", "--no-optional-locks", "-C", str(PROJECT), "-c", f"safe.directory={PROJECT}"]
    describe = ["describe", "--always", "--abbrev=12", f"--dirty={MODIFIED}"]
    try:
        done = subprocess.run([*git, *describe], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN
    return done.stdout.strip() or UNKNOWN
