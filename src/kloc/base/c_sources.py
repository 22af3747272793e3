# SPDX-License-Identifier: GPL-2.0
"""How C programs of workloads are compiled.

The first comment of a program may name a library that it needs, with the linker's arguments:

     * Links with: librocksdb-dev -lrocksdb
"""

from __future__ import annotations

import re
from pathlib import Path

FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror")

COMPILER = ("gcc", "libc6-dev")
"""The Debian packages of the compiler."""

_LINKS_WITH = re.compile(r"^ \* Links with: (\S+)((?: -l\S+)+)$", re.M)


def library(source: Path) -> str | None:
    """Return the Debian package with the library that a C file links with, None for libc alone."""
    needs = _LINKS_WITH.search(source.read_text())
    return needs[1] if needs else None


def links(source: Path) -> list[str]:
    """Return the linker's arguments: a program is static unless it needs a library."""
    needs = _LINKS_WITH.search(source.read_text())
    return ["-static"] if needs is None else needs[2].split()
