# SPDX-License-Identifier: GPL-2.0
"""Installs into kloc's Python environment what pyproject.toml asks for.

The launcher runs this file before anything else is installed: standard library only.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

LAST_LINES = 15


def requirements(pyproject: Path, extra: str | None = None) -> list[str]:
    """Return what the project needs, or what its `extra` adds to that."""
    project = tomllib.loads(pyproject.read_text())["project"]
    found: list[str] = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return found


def install(pyproject: Path, extra: str | None = None) -> str | None:
    """Install these requirements; return the end of pip's output if it fails, else None."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    argv = [*pip, *requirements(pyproject, extra)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return None
    return "\n".join(done.stdout.splitlines()[-LAST_LINES:])


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1])))
