# SPDX-License-Identifier: GPL-2.0
"""Finds the newest versions of packages that Debian offers now, for `kloc pins --update`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from kloc.build import bootstrap, guest_image, root


def newest(guests: Iterable[str]) -> dict[str, str]:
    """Return the newest version of each package of the tool root and of guests with `guests`.

    apt chooses them together in one root, with all that they depend on; the root is thrown away.
    Raises KlocError if a package does not exist, or if the root cannot be made.
    """
    packages = sorted({*root.PACKAGES, *guest_image.BASE_PACKAGES, *guests})
    with tempfile.TemporaryDirectory(dir=bootstrap.TEMPORARY, prefix="kloc-newest-") as name:
        tar = Path(name) / "root.tar"
        bootstrap.bootstrap("a root with the newest packages", packages, tar, seconds=100)
        return guest_image.installed(tar)
