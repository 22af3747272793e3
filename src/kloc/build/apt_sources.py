# SPDX-License-Identifier: GPL-2.0
"""The host's Debian: what kloc needs from it, and which mirror it uses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kloc.build.host import os_release

SUITE = "trixie"
"""The Debian that the tools and the guest come from, whatever the host's is."""

DEFAULT_MIRROR = "http://deb.debian.org/debian"
DEFAULT_SECURITY_MIRROR = "http://deb.debian.org/debian-security"


@dataclass(frozen=True)
class Source:
    """One archive that the host's apt uses."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]


def apt_lines() -> list[str]:
    """Return SUITE's lines for apt, from the mirror that the host itself uses for Debian.

    What another system's apt uses (Ubuntu's, say) has no SUITE: there it is Debian's own mirror.
    """
    release = os_release()
    codename = release.get("VERSION_CODENAME", "")
    sources = list(_sources(Path("/etc/apt"))) if release.get("ID") == "debian" else []
    mirror = _mirror(sources, codename) or DEFAULT_MIRROR
    security = _mirror(sources, f"{codename}-security") or DEFAULT_SECURITY_MIRROR
    return [
        f"deb {mirror} {SUITE} main",
        f"deb {mirror} {SUITE}-updates main",
        f"deb {security} {SUITE}-security main",
    ]


def _mirror(sources: Sequence[Source], suite: str) -> str | None:
    """Return where the host gets Debian's `suite` by HTTP, or None."""
    for source in sources:
        over_http = source.uri.startswith(("http://", "https://"))
        if over_http and suite in source.suites and "main" in source.components:
            return source.uri
    return None


def _sources(etc: Path) -> Iterator[Source]:
    """Yield what the apt configuration in `etc` lists, in both of its formats."""
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
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
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^([\w-]+):\s*(.*)$", stanza, re.MULTILINE))
        if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no":
            suites = tuple(fields.get("Suites", "").split())
            components = tuple(fields.get("Components", "").split())
            for uri in fields.get("URIs", "").split():
                yield Source(uri, suites, components)
