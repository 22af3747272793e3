# SPDX-License-Identifier: GPL-2.0
"""The host's Debian: what kloc needs from it, and which mirror it uses."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from kloc.base import progress, terminal
from kloc.base.errors import KlocError

PROGRAMS = {"mmdebstrap": "mmdebstrap", "uidmap": "newuidmap", "mount": "mount"}
"""The packages that kloc needs on the host for a program, and that program."""

KEYRING = "debian-archive-keyring"
"""The package, and the name of its files in KEYRINGS."""

KEYRINGS = Path("/usr/share/keyrings")

PACKAGES = (*PROGRAMS, KEYRING)
"""All that kloc needs installed on the host, beside Python."""


def missing() -> list[str]:
    """Return those of PACKAGES that are not installed here."""
    there = _installed if shutil.which("dpkg-query") else _found
    return [name for name in PACKAGES if not there(name)]


def _found(package: str) -> bool:
    """Return whether what is needed of `package` is here, where packages have other names."""
    if package == KEYRING:
        return any(KEYRINGS.glob(f"{KEYRING}.*"))
    return shutil.which(PROGRAMS[package]) is not None


def _installed(package: str) -> bool:
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    return found.returncode == 0 and found.stdout == "installed"


def install_missing() -> None:
    """See to it that PACKAGES are installed: ask once, then install them with apt."""
    names = missing()
    if not names:
        return
    install = _as_root(["apt-get", "install", "--yes", "--no-install-recommends", *names])
    by_hand = f"install what is missing: {' '.join(install)}"
    if not shutil.which("apt-get"):
        raise KlocError(
            f"kloc needs {', '.join(names)}, and this is {description()}, not Debian 12 or 13",
            hint="install them in this system's way, or use a Debian machine",
        )
    wanted = ", ".join(names)
    if not terminal.ask(
        f"kloc needs the Debian packages {wanted}. Install them now?", _either(by_hand)
    ):
        raise KlocError(f"kloc cannot go on without {wanted}", hint=by_hand)
    _apt(_as_root(["apt-get", "update"]), by_hand)
    _apt(install, by_hand)


def _either(by_hand: str) -> str:
    return f"say --yes to have it done, or {by_hand}"


def _as_root(argv: list[str]) -> list[str]:
    return argv if os.geteuid() == 0 else ["sudo", *argv]


def _apt(argv: list[str], by_hand: str) -> None:
    if argv[0] == "sudo" and not shutil.which("sudo"):
        raise KlocError("kloc is not root here and there is no sudo", hint=f"as root, {by_hand}")
    terminal.command_line(argv)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with progress.estimated(" ".join(argv[:3]), seconds=20):
        done = subprocess.run(
            argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-10:])
        raise KlocError(f"{' '.join(argv)} failed:\n{last}", hint=by_hand)


def os_release() -> dict[str, str]:
    """Return the fields of /etc/os-release (empty where there is none)."""
    path = Path("/etc/os-release")
    if not path.exists():
        return {}
    fields = re.findall(r'^(\w+)="?([^"\n]*)"?$', path.read_text(), re.MULTILINE)
    return dict(fields)


def description() -> str:
    """Return what this system calls itself, such as "Debian GNU/Linux 12 (bookworm)"."""
    return os_release().get("PRETTY_NAME", "an unknown system")
