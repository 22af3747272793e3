# SPDX-License-Identifier: GPL-2.0
"""Installs into kloc's Python environment what pyproject.toml asks for.

The launcher runs this file before anything else is installed: standard library only.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"

LAST_LINES = 15


def has(extra: str) -> bool:
    """Return whether `extra` is installed."""
    return _mark(extra).exists()


def install(extra: str = "") -> str:
    """Install what the project needs, or what its `extra` adds; return pip's complaint, or ""."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    argv = [*pip, *_requirements(extra)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        return "\n".join(done.stdout.splitlines()[-LAST_LINES:])
    _mark(extra).touch()
    return ""


def _requirements(extra: str) -> list[str]:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    found: list[str] = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return found


def _mark(extra: str) -> Path:
    """Return the file that says that `extra`, or without one the environment itself, is whole."""
    return Path(sys.prefix) / f"ready-{extra}".rstrip("-")


if __name__ == "__main__":
    sys.exit(install() or None)
