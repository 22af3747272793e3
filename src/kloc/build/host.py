# SPDX-License-Identifier: GPL-2.0
"""The host system: which one it is, and whether the packages that kloc needs are installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from kloc.base import progress, terminal
from kloc.base.debian import is_installed
from kloc.base.errors import KlocError, disk_full

ETC = Path("/etc")

PROGRAMS = {"mmdebstrap": "mmdebstrap", "uidmap": "newuidmap", "mount": "mount"}
"""Debian packages that the host needs, each with the program that kloc uses from it."""

KEYRING = "debian-archive-keyring"
"""A package that the host needs, and the name of its files in KEYRINGS."""

KEYRINGS = Path("/usr/share/keyrings")

PACKAGES = (*PROGRAMS, KEYRING)
"""All Debian packages that the host needs, in addition to Python."""

LAST_LINES = 10
"""How many lines of apt's output an error quotes."""


def missing() -> list[str]:
    """Return the PACKAGES that are not installed."""
    # Without dpkg, packages have other names: look for their programs and files.
    is_present = is_installed if shutil.which("dpkg-query") else _has_files
    return [name for name in PACKAGES if not is_present(name)]


def _has_files(package: str) -> bool:
    """Return whether what kloc uses of a Debian package exists, from whatever package."""
    if package == KEYRING:
        return any(KEYRINGS.glob(f"{KEYRING}.*"))
    return shutil.which(PROGRAMS[package]) is not None


def install_missing() -> None:
    """Install the missing PACKAGES with apt, after asking the user once.

    Raises KlocError if the user declines, if apt fails, or if the system has no apt.
    """
    names = missing()
    if not names:
        return
    listed = ", ".join(names)
    install = _as_root(["apt-get", "install", "--yes", "--no-install-recommends", *names])
    by_hand = f"install the packages by hand: {' '.join(install)}"
    if not shutil.which("apt-get"):
        raise KlocError(
            f"kloc needs {listed}; this is {description()}, not Debian 12 or 13",
            hint="install them with this system's package manager, or use a Debian machine",
        )
    question = f"kloc needs the Debian packages {listed}. Install them now?"
    if not terminal.ask(question, f"let kloc install them with --yes, or {by_hand}"):
        raise KlocError(f"kloc needs the Debian packages {listed}", hint=by_hand)
    _apt(_as_root(["apt-get", "update"]), by_hand)
    _apt(install, by_hand)


def _as_root(argv: list[str]) -> list[str]:
    return argv if os.geteuid() == 0 else ["sudo", *argv]


def _apt(argv: list[str], by_hand: str) -> None:
    if argv[0] == "sudo" and not shutil.which("sudo"):
        raise KlocError(
            "kloc does not run as root, and sudo is missing", hint=f"as root, {by_hand}"
        )
    terminal.command_line(argv)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with progress.estimated(" ".join(argv[:3]), seconds=20):
        done = subprocess.run(
            argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    if done.returncode != 0:
        if full := disk_full(done.stdout, " ".join(argv[:3]), Path("/var"), Path("/usr")):
            raise full
        last = "\n".join(done.stdout.splitlines()[-LAST_LINES:])
        raise KlocError(f"{' '.join(argv)} failed:\n{last}", hint=by_hand)


def os_release(etc: Path = ETC) -> dict[str, str]:
    """Return the fields of the file os-release in `etc`; none if there is no such file."""
    path = etc / "os-release"
    if not path.exists():
        return {}
    fields = re.findall(r'^(\w+)="?([^"\n]*)"?$', path.read_text(), re.MULTILINE)
    return dict(fields)


def description() -> str:
    """Return this system's own name for itself, such as "Debian GNU/Linux 12 (bookworm)"."""
    return os_release().get("PRETTY_NAME", "an unknown system")
