# SPDX-License-Identifier: GPL-2.0
"""Installs the Python packages that pyproject.toml lists into kloc's own environment.

The ./kloc script runs this file before any package is installed, so its top level imports the
standard library only.
"""

import importlib.metadata
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"

LAST_LINES = 15
"""How many lines of pip's output an error quotes."""

SECONDS = {"files": 3, "measure": 20, "dev": 15, "curve": 10, "tune": 20}
"""About how long the installation of each extra takes."""

FIRST = "pinned"
"""The extra that an environment of kloc's own begins with."""

DISTRIBUTION = "kloc"
"""The name under which pip or Debian has installed this package."""

REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?P<version>[^;]*)(?:;.*\bextra *== *['\"](?P<extra>\w+))?"
)
"""A requirement in the metadata of an installed package, with the extra that it belongs to."""

DEBIAN = {
    "python-dateutil": "python3-dateutil",
    "python-debian": "python3-debian",
    "pyyaml": "python3-yaml",
    "scikit-learn": "python3-sklearn",
}
"""Debian's packages whose names are not python3- and the name on PyPI."""

PIPX = "pipx_metadata.json"
"""The file that tells an environment of pipx, which has no pip, from others."""

NOT_IN_DEBIAN = frozenset({"narwhals", "pyaml", "scikit-optimize"})
"""Packages that Debian does not have."""


def has(extra: str) -> bool:
    """Return whether all packages of the optional dependencies `extra` are installed."""
    return _marker(extra).exists() or (not is_own() and not _missing(extra))


def require(extra: str, user: str) -> None:
    """Install the optional dependencies `extra` if they are missing; `user` needs them.

    Only kloc's own environment is changed. Raises KlocError if the packages cannot be installed,
    or are missing in an environment that is not kloc's own.
    """
    if has(extra):
        return
    from kloc.base import cache, progress
    from kloc.base.errors import KlocError, disk_full

    if not is_own():
        raise lacks(_missing(extra), user)
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


def lacks(requirements: Sequence[str], user: str) -> Exception:
    """Return the KlocError that `user` needs these packages, in an environment of others.

    It says how to install them where this kloc was installed.
    """
    from kloc.base.errors import KlocError

    if not is_installed():
        return KlocError(
            f"{user} needs a checkout of kloc, and there is none here",
            "in the machine, use kloc status, top, exec, choose, release, scheme and heatmap",
        )
    names = [_name(requirement) for requirement in requirements]
    return KlocError(
        f"{user} needs Python packages that {sys.prefix} lacks: {', '.join(names)}",
        _how_to_install(requirements),
    )


def _how_to_install(requirements: Sequence[str]) -> str:
    if PYPROJECT.exists():
        return "start kloc by its launcher, ./kloc, which installs them"
    prefix = Path(sys.prefix)
    if sys.prefix != sys.base_prefix:
        is_pipx = (prefix / PIPX).exists()
        pip = "pipx inject kloc" if is_pipx else f"{prefix}/bin/pip install"
        return f"install them: {pip} {' '.join(requirements)}"
    names = [_name(requirement) for requirement in requirements]
    packaged = [DEBIAN.get(name, f"python3-{name}") for name in names if name not in NOT_IN_DEBIAN]
    apt = [f"as root: apt install {' '.join(packaged)}"] if packaged else []
    others = sorted(NOT_IN_DEBIAN.intersection(names))
    start = "start ./kloc in a checkout of the project, which installs them"
    if not others:
        return f"{apt[0]}; or {start}"
    return f"Debian has no {', '.join(others)}: {start}"


def install(extra: str = FIRST) -> str:
    """Install the project's optional dependencies `extra`, by default those for every command.

    Return "" on success, else the last lines that pip printed.
    """
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    argv = [*pip, *_requirements(extra)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        return "\n".join(done.stdout.splitlines()[-LAST_LINES:])
    _marker(extra).touch()
    return ""


def is_installed() -> bool:
    """Return whether it is known what this kloc needs: in a checkout, or where it was installed.

    In the machine, kloc is neither.
    """
    if PYPROJECT.exists():
        return True
    try:
        importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _requirements(extra: str) -> list[str]:
    """Return the requirements of `extra`, none if this kloc was not installed."""
    if PYPROJECT.exists():
        project = tomllib.loads(PYPROJECT.read_text())["project"]
        found: list[str] = project["optional-dependencies"][extra]
        return found
    try:
        listed = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    parsed = [REQUIREMENT.match(line) for line in listed]
    return [
        f"{one['name']}{one['version']}".strip() for one in parsed if one and one["extra"] == extra
    ]


def is_own() -> bool:
    """Return whether this Python runs from an environment that the ./kloc script created."""
    return _marker(FIRST).exists() and PYPROJECT.exists()


def _missing(extra: str) -> list[str]:
    """Return the requirements of `extra` that this Python lacks; the extra itself if unknown."""
    if not is_installed():
        return [extra]
    missing = []
    for requirement in _requirements(extra):
        try:
            importlib.metadata.version(_name(requirement))
        except importlib.metadata.PackageNotFoundError:
            missing.append(requirement)
    return missing


def _name(requirement: str) -> str:
    """Return the name of the package that a requirement is of, such as rich of rich==14.3.4."""
    found = REQUIREMENT.match(requirement)
    assert found is not None
    return found["name"]


def _marker(extra: str) -> Path:
    """Return the file whose presence means that `extra`, or the environment, is complete."""
    return Path(sys.prefix) / ("ready" if extra == FIRST else f"ready-{extra}")


if __name__ == "__main__":
    sys.exit(install() or None)
