# SPDX-License-Identifier: GPL-2.0
"""The kernel's configuration: where it is not Debian's, there is a reason."""

import lzma
import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

from kloc.build import kernel, kernel_source
from kloc.build.root import Root

DEBIAN = "usr/src/linux-config-6.12/config.amd64_none_amd64.xz"


def values(text: str) -> dict[str, str]:
    return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))


def choices(linux: Path, areas: list[str]) -> set[str]:
    """Return the symbols of these Kconfig files that a person can set: those with a prompt."""
    found = set()
    for area in areas:
        for kconfig in linux.glob(area):
            entries = re.split(r"^\s*(?:menu)?config\s+", kconfig.read_text(), flags=re.MULTILINE)
            for entry in entries[1:]:
                if re.search(r'^\s+(?:bool|tristate|int|string|hex|prompt)\s+"', entry, re.M):
                    found.add(entry.split(None, 1)[0])
    return found


def differing(ours: dict[str, str], debian: dict[str, str], symbols: set[str]) -> dict[str, str]:
    """Return the symbols that differ. What Debian has as a module is not in use until loaded."""
    different = {}
    for symbol in symbols:
        one, other = debian.get(symbol, "n"), ours.get(symbol, "n")
        if one != other and one != "m":
            different[symbol] = f"{one} in Debian, {other} here"
    return different


def test_every_difference_has_a_reason(
    tools: Root, linux: Path, machine_kernel: kernel.Kernel
) -> None:
    listed = tomllib.loads((kernel_source.KERNEL / "config" / "differences.toml").read_text())
    debian = values(lzma.decompress((tools.path / DEBIAN).read_bytes()).decode())
    ours = values(machine_kernel.config.read_text())
    different = differing(ours, debian, choices(linux, listed["areas"]))

    patterns = [pattern for entry in listed["difference"] for pattern in entry["symbols"]]
    assert all(entry["reason"] for entry in listed["difference"])

    unexplained = {
        symbol: what
        for symbol, what in sorted(different.items())
        if not any(fnmatchcase(symbol, pattern) for pattern in patterns)
    }
    assert not unexplained, "add these to kernel/config/differences.toml, with the reason"

    stale = [
        pattern
        for pattern in patterns
        if not any(fnmatchcase(symbol, pattern) for symbol in different)
    ]
    assert not stale, "these do not differ (any more)"
