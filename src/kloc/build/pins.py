# SPDX-License-Identifier: GPL-2.0
"""The pinned versions of Debian's packages: those that the figures in README are of.

machine/pins.txt has a line "PACKAGE VERSION" for each package of the tool root and of the guests.
apt installs these versions as long as Debian offers them, and the newest ones otherwise.
`kloc pins --update` rewrites the file.
"""

from __future__ import annotations

from collections.abc import Mapping

from kloc.base import paths, terminal
from kloc.base.errors import KlocError
from kloc.base.files import write_text
from kloc.base.words import plural

FILE = paths.shipped("machine", "pins.txt")

HEADER = """\
# The versions of Debian's packages that README's figures are of, in the tool root and in the
# guests. kloc pins --update rewrites this file.
"""

PRIORITY = 1001
"""Above 1000, apt installs the pinned version even if a newer one is installed or offered."""

UNPINNED = frozenset({"linux-config-6.12"})
"""Packages that no figure depends on, and of which Debian keeps the newest version only."""

NAMED = 5
"""How many packages a message names."""


def read() -> dict[str, str]:
    """Return the pinned version of each package.

    Raises KlocError, with the line, if the file cannot be understood.
    """
    pins: dict[str, str] = {}
    for number, line in enumerate(FILE.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if len(words) != 2:
            raise KlocError(
                f"{FILE}, line {number}: expected 'PACKAGE VERSION', not '{line}'",
                "kloc pins --update writes the file anew",
            )
        pins[words[0]] = words[1]
    return pins


def write(versions: Mapping[str, str]) -> None:
    """Pin `versions`, the version of each package, in place of what the file has."""
    kept = sorted((name, version) for name, version in versions.items() if name not in UNPINNED)
    write_text(FILE, HEADER + "".join(f"{name} {version}\n" for name, version in kept))


def preferences(pins: Mapping[str, str]) -> str:
    """Return apt's preferences for these versions. apt ignores a pin that no archive satisfies."""
    return "\n".join(
        f"Package: {name}\nPin: version {version}\nPin-Priority: {PRIORITY}\n"
        for name, version in pins.items()
    )


def missed(installed: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the packages whose `installed` version is not the pinned one: (pinned, installed).

    Packages that are not pinned, such as those of `kloc run --packages`, are left out.
    """
    pins = read()
    return {
        name: (pins[name], version)
        for name, version in installed.items()
        if name in pins and pins[name] != version
    }


def report(what: str, installed: Mapping[str, str]) -> None:
    """Say which packages of `what`, such as "the tool root", are not of the pinned version."""
    others = missed(installed)
    if not others:
        return
    named = [f"{name} {got} for {pinned}" for name, (pinned, got) in sorted(others.items())]
    more = [f"and {len(named) - NAMED} more"] if len(named) > NAMED else []
    terminal.say(
        f"Debian no longer offers {plural(len(named), 'pinned version')} in {what}; it has "
        f"{', '.join([*named[:NAMED], *more])}. Figures may differ from README's."
    )
