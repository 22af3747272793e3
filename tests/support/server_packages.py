# SPDX-License-Identifier: GPL-2.0
"""Packages that a test upgrades to: others with a newer version and changed files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

NEWER = "0.1+newer"
"""The version of the package kloc that is upgraded to."""

VERSION = r"(?<=^Version: ).*$"
"""The version in the control file of a package."""


def newer_kloc(package: Path, target: Path) -> Path:
    """Write kloc's package with the version NEWER, another kloc.toml, and another unit."""
    changes = (
        ("DEBIAN/control", VERSION, NEWER),
        ("etc/kloc/kloc.toml", r"\Z", "# Newer.\n"),
        ("usr/lib/systemd/system/kloc.service", r"(?<=^Description=).*$", "Newer"),
    )
    return _repacked(package, target, changes)


def newer_kernel(package: Path, target: Path, version: str) -> Path:
    """Write a kernel's package with another version and the same kernel.

    The name of a package has the kernel's release, so that another kernel has another package:
    dpkg upgrades a package only to another build of the same kernel.
    """
    return _repacked(package, target, [("DEBIAN/control", VERSION, version)])


def _repacked(package: Path, target: Path, changes: Iterable[tuple[str, str, str]]) -> Path:
    """Write a package with changes to `target`, and return that.

    A change is the name of a file, a regular expression that is found there, and its replacement.
    """
    tree = target.with_suffix(".tree")
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    for name, pattern, text in changes:
        file = tree / name
        changed, count = re.subn(pattern, text, file.read_text(), count=1, flags=re.M)
        assert count == 1, f"{name} has nothing that matches {pattern}"
        file.write_text(changed)
    # Modules are compressed already.
    build = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", str(tree), str(target)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    return target
