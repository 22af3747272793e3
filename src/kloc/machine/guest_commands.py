# SPDX-License-Identifier: GPL-2.0
"""Installs kloc's own commands, such as `kloc status`, in a guest whose job asks for them.

They need Python, so other guests have neither Python nor the commands.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from kloc.base import paths

PACKAGES = ("python3", "python3-rich")
"""The Debian packages that the commands need."""

NAME = "kloc"
"""The name of the program in the guest."""

DATA = ("policies", "schemes")
"""The directories with files that the commands read."""

COMMAND = """\
#!/bin/sh
PYTHONPATH=/kloc/src exec python3 -P -m kloc "$@"
"""


def write_files(directory: Path) -> dict[str, Path]:
    """Write the commands' files to `directory`; return them by their paths in the guest."""
    package, command = directory / "package", directory / "command"
    shutil.copytree(paths.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    for name in DATA:
        shutil.copytree(
            paths.shipped(name), package / "data" / name, ignore=shutil.ignore_patterns("search")
        )
    command.write_text(COMMAND)
    command.chmod(0o755)
    return {"/kloc/src/kloc": package, f"/usr/local/bin/{NAME}": command}
