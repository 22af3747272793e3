# SPDX-License-Identifier: GPL-2.0
"""Finds the Debian mirror that the host's apt uses, and writes apt's lines for our Debian roots."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kloc.build.host import ETC, os_release

SUITE = "trixie"
"""The Debian release of the tools and the guest, on every host."""

DEFAULT_MIRROR = "http://deb.debian.org/debian"
DEFAULT_SECURITY_MIRROR = "http://deb.debian.org/debian-security"


@dataclass(frozen=True)
class Source:
    """One archive in the apt configuration of the host."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]


def apt_lines(etc: Path = ETC) -> list[str]:
    """Return apt's lines for SUITE, with the mirror that a Debian host itself uses.

    Mirrors of other systems, such as Ubuntu's, do not have SUITE: there, return the default
    mirrors. `etc` is the host's /etc.
    """
    release = os_release(etc)
    codename = release.get("VERSION_CODENAME", "")
    sources = list(_sources(etc / "apt")) if release.get("ID") == "debian" else []
    mirror = _mirror(sources, codename) or DEFAULT_MIRROR
    security = _mirror(sources, f"{codename}-security") or DEFAULT_SECURITY_MIRROR
    return [
        f"deb {mirror} {SUITE} main",
        f"deb {mirror} {SUITE}-updates main",
        f"deb {security} {SUITE}-security main",
    ]


def source_lines(etc: Path = ETC) -> list[str]:
    """Return apt's lines for the source packages of SUITE, on the mirrors of `apt_lines`."""
    return [line.replace("deb ", "deb-src ", 1) for line in apt_lines(etc)]


def _mirror(sources: Sequence[Source], suite: str) -> str | None:
    """Return the HTTP mirror from which the host gets Debian's `suite`, or None."""
    for source in sources:
        over_http = source.uri.startswith(("http://", "https://"))
        if over_http and suite in source.suites and "main" in source.components:
            return source.uri
    return None


def _sources(apt: Path) -> Iterator[Source]:
    """Yield the archives listed in the directory `apt`, in either of apt's two formats."""
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if path.suffix == ".list" and path.is_file():
            yield from _one_line_sources(path.read_text())
        elif path.suffix == ".sources":
            yield from _deb822_sources(path.read_text())


def _one_line_sources(text: str) -> Iterator[Source]:
    for line in text.splitlines():
        match = re.match(r"deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+([^#]+)", line)
        if match:
            uri, suite, components = match.groups()
            yield Source(uri, (suite,), tuple(components.split()))


def _deb822_sources(text: str) -> Iterator[Source]:
    # Imported here: `kloc doctor` runs without the packages for measuring.
    from debian.deb822 import Deb822

    for stanza in Deb822.iter_paragraphs(text.splitlines()):
        if "deb" in stanza.get("Types", "").split() and stanza.get("Enabled", "yes") != "no":
            suites = tuple(stanza.get("Suites", "").split())
            components = tuple(stanza.get("Components", "").split())
            for uri in stanza.get("URIs", "").split():
                yield Source(uri, suites, components)
