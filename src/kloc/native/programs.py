# SPDX-License-Identifier: GPL-2.0
"""What a workload needs on the server: Debian's packages, and its C programs, compiled here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from kloc.base import terminal
from kloc.base.c_sources import COMPILER, FLAGS, library, links
from kloc.base.errors import KlocError
from kloc.measure.workload import SOURCES, Workload

INSTALLED = "install ok installed"

NETWORK = "iproute2"
"""The package with which a workload gets its own network, and which small servers may lack."""


def packages(workloads: Iterable[Workload]) -> list[str]:
    """Return the Debian packages that workloads need on a server, those of the compiler too."""
    needed: dict[str, None] = {}
    for one in workloads:
        needed.update(dict.fromkeys(one.packages))
        if one.programs:
            needed.update(dict.fromkeys(COMPILER))
        found = [library(SOURCES / name) for name in one.programs]
        needed.update({name: None for name in found if name is not None})
        needed[NETWORK] = None
    return list(needed)


def versions(names: Sequence[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    if not names or shutil.which("dpkg-query") is None:
        return {}
    form = "${Package}\\t${Status}\\t${Version}\\n"
    argv = ["dpkg-query", "--show", f"--showformat={form}", *names]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: version for name, status, version in rows if status == INSTALLED}


def require(names: Sequence[str]) -> None:
    """Install missing packages if the user has said --yes.

    Raises KlocError, with the command that installs them, if some are missing otherwise.
    """
    installed = versions(names)
    missing = [name for name in names if name not in installed]
    if not missing:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *missing]
    if not terminal.settings.yes:
        raise KlocError(
            f"this server lacks Debian packages of the workloads: {', '.join(missing)}",
            f"as root: apt-get install {' '.join(missing)}; or let kloc do it with --yes. Stop the "
            "services that they start, which would run beside the measurement",
        )
    terminal.say(f"installing {', '.join(missing)}")
    # Only results go to stdout.
    subprocess.run(command, check=True, stdout=sys.stderr)


def compile_all(workload: Workload, folder: Path) -> None:
    """Compile a workload's C programs into `folder`. Raises KlocError with gcc's messages."""
    for name in workload.programs:
        source = SOURCES / name
        argv = ["gcc", *FLAGS, "-o", str(folder / source.stem), str(source), *links(source), "-lm"]
        terminal.command_line(argv)
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            raise KlocError(f"{source} does not compile here:\n{done.stderr}", "gcc --version")
