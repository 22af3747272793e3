# SPDX-License-Identifier: GPL-2.0
"""Makes the Debian root with headless Chromium, in which tests open reports."""

from pathlib import Path

from kloc.base import cache
from kloc.build import apt_sources, bootstrap, root
from kloc.build.root import Root

PACKAGES = ("base-files", "chromium-headless-shell", "coreutils", "dash", "fonts-dejavu-core")


def browser_root() -> Root:
    """Return the root with Chromium, made on first use (about a minute, a 200 MB download)."""
    key = cache.key(apt_sources.SUITE, *PACKAGES)
    return Root(cache.build("browser", key, _make) / "tree", key)


def _make(draft: Path) -> None:
    root.check_namespaces()
    tar = draft / "root.tar"
    bootstrap.bootstrap("a root with Chromium", PACKAGES, tar, seconds=60, variant="extract")
    root.unpack(tar, draft)
