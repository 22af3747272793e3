# SPDX-License-Identifier: GPL-2.0
"""Small git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

IDENTITY = ("-c", "user.name=Nobody", "-c", "user.email=nobody@localhost")


def repository(directory: Path, content: Mapping[str, str]) -> Path:
    """Make a repository with one commit, of these files, and return its directory."""
    directory.mkdir()
    for name, text in content.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    _git(directory, "init", "--quiet", "--initial-branch=main")
    commit(directory)
    return directory


def commit(directory: Path, time: int | None = None) -> None:
    """Commit all files of a repository, at a time in seconds since 1970 (default: now)."""
    dates = {} if time is None else {"GIT_COMMITTER_DATE": f"{time} +0000"}
    _git(directory, "add", "--all")
    _git(directory, *IDENTITY, "commit", "--quiet", "--message=A change", environment=dates)


def _git(directory: Path, *argv: str, environment: Mapping[str, str] | None = None) -> None:
    command = ["git", "-C", str(directory), "-c", "core.hooksPath=/dev/null", *argv]
    subprocess.run(command, check=True, env={**os.environ, **(environment or {})})
