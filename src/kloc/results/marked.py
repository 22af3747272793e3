# SPDX-License-Identifier: GPL-2.0
"""Tables between marks in a document of Markdown, and what they were measured with.

    <!-- table NAME -->
    ...
    <!-- end -->

A table that was measured ends with a line that has its commit and the hash of its inputs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kloc.base.checkout import SHORT
from kloc.base.errors import KlocError

END = "<!-- end -->"

_BEGIN = re.compile(r"<!-- table ([\w-]+) -->")
_STAMP = re.compile(r"at commit ([0-9a-f]{7,40}), inputs ([0-9a-f]{16})\.$")


@dataclass(frozen=True)
class Stamp:
    """What a table was measured with: the commit, and the hash of the inputs of its runs."""

    commit: str
    inputs: str

    def caption(self, before: str) -> str:
        """Return the last line of a table; `before` is a sentence without its end."""
        return f"{before} at commit {self.commit[:SHORT]}, inputs {self.inputs}."


def tables(name: str, text: str) -> dict[str, list[str]]:
    """Return the lines between the marks of each table in the document `name`.

    Empty lines at their ends are left out. Raises KlocError, with the line, for marks that do not
    match, and for a second table of the same name.
    """
    found: dict[str, list[str]] = {}
    inside: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        begin = _BEGIN.fullmatch(line)
        if (begin and inside is not None) or (line == END and inside is None):
            raise _wrong(name, number, f"'{line}' is without its '{_other(line)}'")
        if begin:
            inside = begin[1]
            if inside in found:
                raise _wrong(name, number, f"there is another table {inside}")
            found[inside] = []
        elif line == END:
            inside = None
        elif inside is not None:
            found[inside].append(line)
    if inside is not None:
        raise KlocError(f"{name}: table {inside} has no '{END}'", "add it below the table")
    return {table: _stripped(lines) for table, lines in found.items()}


def replaced(text: str, table: str, lines: Sequence[str]) -> str:
    """Return the document with other lines between the marks of a table, which it must have."""
    old = text.splitlines()
    begin = old.index(f"<!-- table {table} -->")
    end = old.index(END, begin)
    return "\n".join([*old[: begin + 1], "", *lines, *old[end:]]) + "\n"


def stamp(lines: Sequence[str]) -> Stamp | None:
    """Return what a table was measured with, None if it does not say."""
    found = _STAMP.search(lines[-1]) if lines else None
    return Stamp(found[1], found[2]) if found else None


def has_figures(lines: Sequence[str]) -> bool:
    """Return whether a table has figures, rather than a line that says that they are to come."""
    return any(character.isdigit() for line in lines for character in line)


def _stripped(lines: Sequence[str]) -> list[str]:
    return "\n".join(lines).strip("\n").splitlines()


def _other(line: str) -> str:
    return "<!-- table NAME -->" if line == END else END


def _wrong(name: str, number: int, problem: str) -> KlocError:
    return KlocError(f"{name}, line {number}: {problem}", "fix the marks of the table")
