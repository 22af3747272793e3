# SPDX-License-Identifier: GPL-2.0
"""The line below a table that says of which versions its figures are, and if they are pinned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kloc.base.words import plural

NAMED = 3
"""How many packages the line names that are not of the pinned version."""


def lines(document: Mapping[str, Any]) -> list[str]:
    """Return the line of a document of runs; none if an older kloc wrote it without the pins."""
    versions = document["versions"]
    others: Mapping[str, Mapping[str, str]] | None = versions.get("not_pinned")
    if others is None:
        return []
    kernel = document["kernel"]
    # A kernel that this project did not build is not of the pinned source.
    linux = versions["linux-source"] if "series" in kernel else kernel["release"]
    tools = f"Linux {linux}, QEMU {versions['qemu']}, gcc {versions['gcc']}"
    if not others:
        return [f"versions {tools}; all packages as pinned"]
    named = [f"{name} {one['used']} for {one['pinned']}" for name, one in sorted(others.items())]
    more = [f"and {len(named) - NAMED} more"] if len(named) > NAMED else []
    return [
        f"versions {tools}; {plural(len(named), 'package')} not as pinned, so figures may differ "
        f"from README's: {', '.join([*named[:NAMED], *more])}"
    ]
