# SPDX-License-Identifier: GPL-2.0
"""Installs the Python packages that pyproject.toml lists into kloc's own environment.

The ./kloc script runs this file before any package is installed, so its top level imports the
standard library only.
"""

import importlib.metadata
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"

LAST_LINES = 15
"""How many lines of pip's output an error quotes."""


SECONDS = {"measure": 20, "dev": 15, "tune": 20}
"""About how long the installation of each extra takes."""


def has(extra: str) -> bool:
    """Return whether all packages of the optional dependencies `extra` are installed."""
    return _marker(extra).exists() or (not _is_own() and not _missing(extra))


def require(extra: str, user: str) -> None:
    """Install the optional dependencies `extra` if they are missing; `user` needs them.

    Only kloc's own environment is changed. Raises KlocError if the packages cannot be installed,
    or are missing in an environment that is not kloc's own.
    """
    if has(extra):
        return
    from kloc.base import cache, progress
    from kloc.base.errors import KlocError, disk_full

    if not PYPROJECT.exists():
        raise KlocError(
            f"{user} needs a checkout of kloc, and there is none here",
            "in the machine, use kloc status, top, exec, choose, release, scheme and heatmap",
        )
    if not _is_own():
        raise KlocError(
            f"{user} needs Python packages that {sys.prefix} lacks: {', '.join(_missing(extra))}",
            "start kloc by its launcher, ./kloc, which installs them",
        )
    cache.require_writable(f"Python packages of {user}")
    marker = _marker(extra)
    with cache.locked(marker.with_name(f"{marker.name}.lock"), "installing Python packages"):
        if has(extra):
            return
        with progress.estimated(f"installing the Python packages of {user}", SECONDS[extra]):
            failure = install(extra)
    if failure:
        full = disk_full(
            failure, f"the Python packages of {user}", Path(sys.prefix), Path(tempfile.gettempdir())
        )
        raise full or KlocError(
            f"pip could not install the Python packages of {user}:\n{failure}",
            "check the network, then run kloc again",
        )


def install(extra: str = "") -> str:
    """Install the project's dependencies, or its optional dependencies `extra`.

    Return "" on success, else the last lines that pip printed.
    """
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    argv = [*pip, *_requirements(extra)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        return "\n".join(done.stdout.splitlines()[-LAST_LINES:])
    _marker(extra).touch()
    return ""


def _requirements(extra: str) -> list[str]:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    found: list[str] = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return found


def _is_own() -> bool:
    """Return whether this Python runs from an environment that the ./kloc script created."""
    return _marker("").exists()


def _missing(extra: str) -> list[str]:
    """Return the packages of `extra` that this Python does not have; all without a checkout."""
    if not PYPROJECT.exists():
        return [extra]
    missing = []
    for requirement in _requirements(extra):
        name = requirement.partition("==")[0]
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    return missing


def _marker(extra: str) -> Path:
    """Return the file whose presence means that `extra`, or the environment, is complete."""
    return Path(sys.prefix) / f"ready-{extra}".rstrip("-")


if __name__ == "__main__":
    sys.exit(install() or None)
