# SPDX-License-Identifier: GPL-2.0
"""Words for messages: plurals, and the errors of the library that checks files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_ERROR = re.compile(r"(?P<problem>.*?)(?: - at `\$\.?(?P<where>.*)`)?")
_EXPECTED = re.compile(r"Expected `([^`]*)`.*")

_TYPES = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "str": "a string",
}
"""The names of types in errors, by msgspec's names for them."""


class Problem(NamedTuple):
    """What is wrong with a file, and the dotted path of the value in it."""

    problem: str
    where: str


def plural(number: int, noun: str) -> str:
    """Return the number with its noun: "1 run", "2 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def validation_problem(message: str) -> Problem:
    """Return what a message of msgspec's ValidationError says, and where."""
    match = _ERROR.fullmatch(message)
    assert match is not None
    return Problem(match["problem"], match["where"] or "")


def expected_types(problem: str, names: Mapping[str, str]) -> str | None:
    """Return the types that a problem says are expected, such as "a number or a string".

    `names` has names for types of the file's format, in addition to those that all formats share.
    None if the problem is another one.
    """
    found = _EXPECTED.fullmatch(problem)
    if found is None:
        return None
    words = [{**_TYPES, **names}.get(name, name) for name in found[1].split(" | ")]
    # Where a float is accepted, so is an int.
    if _TYPES["float"] in words and _TYPES["int"] in words:
        words.remove(_TYPES["int"])
    return " or ".join(words)
