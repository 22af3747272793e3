# SPDX-License-Identifier: GPL-2.0
"""Byte sizes: how people write them, and how kloc prints them."""

from __future__ import annotations

from kloc.base.errors import KlocError

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
"""Bytes in each unit that a size may be written in."""


def parse_size(text: object, where: str) -> int:
    """Return the bytes that "192 MiB" or a plain integer stands for.

    `where` names the setting in the error. Raises KlocError if `text` is not a size.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if isinstance(text, str):
        number, _, unit = text.strip().partition(" ")
        if unit in UNITS:
            try:
                return int(float(number) * UNITS[unit])
            except (ValueError, OverflowError):
                pass
    raise KlocError(
        f"{where}: {text!r} is not a size", f'write it as "192 MiB" (units: {", ".join(UNITS)})'
    )


def exact_size(size: float) -> str:
    """Return bytes without rounding, in the largest unit that `size` reaches: "1.5 GiB"."""
    for unit, factor in reversed(UNITS.items()):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def rounded_size(size: float) -> str:
    """Return bytes for a listing: whole MiB, or GiB with one digit."""
    if size < UNITS["GiB"]:
        return f"{size / UNITS['MiB']:.0f} MiB"
    return f"{size / UNITS['GiB']:.1f} GiB"
