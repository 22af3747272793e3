# SPDX-License-Identifier: GPL-2.0
"""The kernel's configuration: every difference from Debian's has a reason."""

import lzma
import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from kloc.build import kernel, kernel_source, pins
from kloc.build.root import Root

DEBIAN = "usr/src/linux-config-6.12/config.amd64_none_amd64.xz"


def values(text: str) -> dict[str, str]:
    """Return the value of each symbol that a .config sets."""
    return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))


def settable_symbols(linux: Path, areas: list[str]) -> set[str]:
    """Return the symbols with a prompt, which users can set, of the Kconfig files in `areas`."""
    found = set()
    for area in areas:
        for kconfig in linux.glob(area):
            entries = re.split(r"^\s*(?:menu)?config\s+", kconfig.read_text(), flags=re.MULTILINE)
            for entry in entries[1:]:
                if re.search(r'^\s+(?:bool|tristate|int|string|hex|prompt)\s+"', entry, re.M):
                    found.add(entry.split(None, 1)[0])
    return found


def differences(ours: dict[str, str], debian: dict[str, str], symbols: set[str]) -> dict[str, str]:
    """Return the symbols that differ, and how.

    Symbols that are modules in Debian are left out: a module is unused until it is loaded.
    """
    different = {}
    for symbol in symbols:
        theirs, own = debian.get(symbol, "n"), ours.get(symbol, "n")
        if theirs not in (own, "m"):
            different[symbol] = f"{theirs} in Debian, {own} here"
    return different


def test_every_difference_has_a_reason(
    tools: Root, linux: Path, machine_kernel: kernel.Kernel
) -> None:
    offered = tools.packages()["linux-config-6.12"]
    if offered != pins.read()["linux-source-6.12"]:
        # Debian keeps only the newest, which may have other values than differences.toml is of.
        pytest.skip(f"Debian offers the configuration of {offered}, which is not the pinned kernel")
    listed = tomllib.loads((kernel_source.KERNEL / "config" / "differences.toml").read_text())
    debian = values(lzma.decompress((tools.path / DEBIAN).read_bytes()).decode())
    ours = values(machine_kernel.config.read_text())
    different = differences(ours, debian, settable_symbols(linux, listed["areas"]))

    patterns = [pattern for entry in listed["difference"] for pattern in entry["symbols"]]
    assert all(entry["reason"] for entry in listed["difference"])

    unexplained = {
        symbol: difference
        for symbol, difference in sorted(different.items())
        if not any(fnmatchcase(symbol, pattern) for pattern in patterns)
    }
    assert not unexplained, "add these to kernel/config/differences.toml, each with its reason"

    stale = [
        pattern
        for pattern in patterns
        if not any(fnmatchcase(symbol, pattern) for symbol in different)
    ]
    assert not stale, "remove these from kernel/config/differences.toml: they do not differ"
