# SPDX-License-Identifier: GPL-2.0
"""Finds the project's files, in a checkout and in an installed package.

Other modules name no directory of the project: they ask `shipped` for files that come with kloc,
and `found` for policies, schemes, workloads and machines, which users may add to:

    ~/.config/kloc/KIND/    the user's ($XDG_CONFIG_HOME/kloc/KIND)
    /etc/kloc/KIND/         the system's
    those that come with kloc

The first file of a name wins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kloc.base.errors import KlocError

PACKAGE = Path(__file__).resolve().parents[1]
"""The directory of the Python package."""

PROJECT = PACKAGE.parents[1]
"""The root of the checkout, if kloc runs from one, as tests and tools do."""

PYPROJECT = PROJECT / "pyproject.toml"

SYSTEM = Path("/etc/kloc")
"""The directory of files that an administrator adds."""

HOW_TO_GET = "start ./kloc in a checkout of the project, which has all files and installs the rest"


def is_checkout() -> bool:
    """Return whether this kloc runs from a checkout, and not from an installed package."""
    return PYPROJECT.is_file() and PYPROJECT.parent / "src" / "kloc" == PACKAGE


def shipped(*parts: str) -> Path:
    """Return the path of a file or directory that comes with kloc, such as ("schemes",).

    It may not exist: packages for servers have no kernel and no machine (`require_laboratory`).
    """
    return (PROJECT if is_checkout() else PACKAGE / "data").joinpath(*parts)


def has_laboratory() -> bool:
    """Return whether this kloc has the files that building and running the machine need."""
    return shipped("kernel").is_dir() and shipped("machine", "plugin").is_dir()


def require_laboratory(user: str) -> None:
    """Raise KlocError if the machine's files are missing; `user`, a command, needs them."""
    if not has_laboratory():
        raise KlocError(
            f"{user} needs the simulated machine, and this package of kloc, in {PACKAGE}, has only "
            "the commands for servers",
            HOW_TO_GET,
        )


def require_checkout(user: str) -> None:
    """Raise KlocError if kloc does not run from a checkout; `user`, a command, needs one."""
    if not is_checkout():
        raise KlocError(
            f"{user} needs a checkout of kloc, and this is an installed package, in {PACKAGE}",
            f"clone the project, then run there: ./{user}",
        )


def configured(kind: str) -> Iterator[Path]:
    """Yield the directories where users put files of a `kind`, the user's own first."""
    with suppress(RuntimeError):  # This user has no home directory.
        home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
        if home.is_absolute():
            yield home / "kloc" / kind
    yield SYSTEM / kind


def found(kind: str, suffix: str, folder: Path) -> dict[str, Path]:
    """Return the files of a `kind` by name: those that users added, and those in `folder`.

    `folder` has the files that come with kloc. The name is that of the file without `suffix`.
    """
    files: dict[str, Path] = {}
    for directory in (*configured(kind), folder):
        for path in sorted(directory.glob(f"*{suffix}")):
            files.setdefault(path.name.removesuffix(suffix), path)
    return files


def is_path(name: str, suffix: str) -> bool:
    """Return whether a word of the command line is the path of a file, and not a name."""
    return name.endswith(suffix) or "/" in name
