# SPDX-License-Identifier: GPL-2.0
"""Tables that the kernel prints: a line of names, and a line of figures for each thing."""

from __future__ import annotations


def by_row(text: str) -> dict[str, dict[str, int]]:
    """Return the figures of a table by row and column.

    `text` has fields between tabs. The first column names the rows, and the first line the columns.
    """
    lines = [line.split("\t") for line in text.splitlines()]
    if not lines:
        return {}
    head, *rows = lines
    return {name: dict(zip(head[1:], map(int, row), strict=True)) for name, *row in rows}
