# SPDX-License-Identifier: GPL-2.0
"""Parses what the programs in machine/known print: lines of the form "known NAME VALUE UNIT"."""

from __future__ import annotations

from collections.abc import Sequence

from kloc.base.errors import KlocError
from kloc.measure.machine_bench.answers import Answer


def parse(printed: str, answers: Sequence[Answer]) -> dict[str, float]:
    """Return the values of these answers by name; ignore other lines.

    Raises KlocError if an answer is missing, is there twice, has another unit than the program
    printed, or is no number above 0.
    """
    units = {answer.name: answer.unit for answer in answers}
    found: dict[str, float] = {}
    for line in printed.splitlines():
        word, *fields = line.split()[:4] or [""]
        if word != "known":
            continue
        try:
            name, text, unit = fields
            value = float(text)
        except ValueError:
            raise KlocError(f"a program with known answers printed '{line}'") from None
        if units.get(name) != unit:
            raise KlocError(f"no known answer is called {name} and has the unit {unit}")
        if name in found:
            raise KlocError(f"the known answer {name} was printed twice")
        # The comparison is also false for nan.
        if not value > 0:
            raise KlocError(f"the known answer {name} is {text}, and should be above 0")
        found[name] = value
    missing = [answer.name for answer in answers if answer.name not in found]
    if missing:
        raise KlocError(f"the programs did not print these known answers: {', '.join(missing)}")
    return {answer.name: found[answer.name] for answer in answers}
