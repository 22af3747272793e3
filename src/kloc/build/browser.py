# SPDX-License-Identifier: GPL-2.0
"""The Debian root with a browser, Chromium without a window, that reports are tested in."""

from pathlib import Path

from kloc.base import cache
from kloc.build import apt_sources, bootstrap, root
from kloc.build.root import Root

PACKAGES = ("base-files", "chromium-headless-shell", "coreutils", "dash", "fonts-dejavu-core")


def browser_root() -> Root:
    """Return the root, made on first use (about a minute, 200 MB to fetch)."""
    key = cache.key(apt_sources.SUITE, *PACKAGES)
    return Root(cache.build("browser", key, _make) / "tree", key)


def _make(draft: Path) -> None:
    root.check_namespaces()
    tar = draft / "root.tar"
    bootstrap.bootstrap("a root with Chromium", PACKAGES, tar, seconds=60, variant="extract")
    root.unpack(tar, draft)
