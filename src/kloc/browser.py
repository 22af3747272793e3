# SPDX-License-Identifier: GPL-2.0
"""The Debian root with a browser, Chromium without a window, that reports are tested in."""

from pathlib import Path

from kloc import cache, debian, root
from kloc.root import Root

PACKAGES = ("base-files", "chromium-headless-shell", "coreutils", "dash", "fonts-dejavu-core")


def browser_root() -> Root:
    """Return the root, made on first use (about a minute, 200 MB to fetch)."""
    key = cache.key(debian.SUITE, *PACKAGES)
    return Root(cache.build("browser", key, _make) / "tree", key)


def _make(draft: Path) -> None:
    root.check_namespaces()
    tar = draft / "root.tar"
    debian.bootstrap("a root with Chromium", PACKAGES, tar, seconds=60, variant="extract")
    root.unpacked(tar, draft)
